
void player_interrupt(void)
{
    memset(&turn, 0, sizeof turn);
    phase = 0U;
    joined = 0U;
    join = 0U;
}

void player_put(const int32_t *positions)
{
    memcpy(command, positions, sizeof command);
    send();
}

void player_join(const int32_t *pose)
{
    memcpy(course.end, pose, sizeof course.end);
    join_end();
    has_begun = true;
}

bool player_is_joining(void)
{
    return joined < join;
}

void player_join_frame(void)
{
    uint64_t share;
    uint8_t joint;
    joined++;
    share = minimum_jerk(((uint64_t)joined << PLACES) / join);
    for (joint = 0U; joint < N_JOINTS; joint++) {
        command[joint] = between(join_begin[joint], course.end[joint], share);
    }
    send();
}
