
/* Stands where the last frame was, in the middle of a motion, with none asked for. */
void player_interrupt(void);

/* Is at positions in a frame of a gait, 1 << 16 is a tick. */
void player_put(const int32_t *positions);

/* Begins the way to a pose; it may take no frames. */
void player_join(const int32_t *pose);

/* Whether that way is not over. */
bool player_is_joining(void);

/* Goes on by one frame of that way. */
void player_join_frame(void);
