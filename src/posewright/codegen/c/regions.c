/*
 * What all charts with regions share; put after the tables and functions that are written for each chart.
 * The functions are those of the W3C's SCXML, Appendix D, over sets of states; none calls itself.
 */

/* sets: a set of states is an array of bits. */
static bool has(const uint8_t *set, node_t node)
{
    return ((unsigned)set[node / 8U] & (1U << (node % 8U))) != 0U;
}

static void add(uint8_t *set, node_t node)
{
    set[node / 8U] = (uint8_t)((unsigned)set[node / 8U] | (1U << (node % 8U)));
}

static void drop(uint8_t *set, node_t node)
{
    set[node / 8U] = (uint8_t)((unsigned)set[node / 8U] & ~(1U << (node % 8U)));
}

static void add_all(uint8_t *set, const uint8_t *others)
{
    uint8_t k;

    for (k = 0U; k < SET_BYTES; k++) {
        set[k] = (uint8_t)(set[k] | others[k]);
    }
}

/* Whether any node from `first` to `last` is in a set: nodes are numbered in document order. */
static bool has_within(const uint8_t *set, node_t first, node_t last)
{
    node_t node;

    for (node = first; node <= last; node++) {
        if (has(set, node)) {
            return true;
        }
    }
    return false;
}

/* microsteps: which transitions are taken together, and what is left and entered. */
static bool lies_in(node_t inner, node_t outer)
{
    return (inner > outer) && (inner <= READ_NODE(LAST, outer));
}

static bool conflict(way_t one, way_t other)
{
    const node_t a = READ_NODE(DOMAIN, one);
    const node_t b = READ_NODE(DOMAIN, other);

    if ((a == NO_NODE) || (b == NO_NODE)) {
        return false;
    }
    return (a == b) || lies_in(b, a) || lies_in(a, b);
}

/* Leaves out transitions that conflict with better ones: an inner one goes before an outer, else the earlier. */
static uint8_t without_conflicts(way_t *chosen, uint8_t count)
{
    uint8_t kept = 0U;
    uint8_t rest;
    uint8_t k;
    uint8_t j;
    bool wins;

    for (k = 0U; k < count; k++) {
        const way_t way = chosen[k];

        wins = true;
        for (j = 0U; j < kept; j++) {
            if (conflict(way, chosen[j]) && !lies_in(READ_NODE(SOURCE, way), READ_NODE(SOURCE, chosen[j]))) {
                wins = false;
            }
        }
        if (wins) {
            rest = 0U;
            for (j = 0U; j < kept; j++) {
                if (!conflict(way, chosen[j])) {
                    chosen[rest] = chosen[j];
                    rest++;
                }
            }
            chosen[rest] = way;
            kept = (uint8_t)(rest + 1U);
        }
    }
    return kept;
}

/* Notes what the chosen transitions leave; returns whether they leave anything. */
static bool find_left(const chart_t *chart, const way_t *chosen, uint8_t count, uint8_t *left)
{
    bool moves = false;
    node_t domain;
    node_t node;
    uint8_t k;

    for (k = 0U; k < count; k++) {
        domain = READ_NODE(DOMAIN, chosen[k]);
        if (domain != NO_NODE) {
            moves = true;
            for (node = (node_t)(domain + 1U); node <= READ_NODE(LAST, domain); node++) {
                if (has(chart->active, node)) {
                    add(left, node);
                }
            }
        }
    }
    return moves;
}

/* Adds what is around the goals, inner states first, then what all these bring along. */
static void complete(const chart_t *chart, const uint8_t *stays, uint8_t *want)
{
    node_t around;
    node_t node;

    for (node = NODES - 1U; node > 0U; node--) {
        around = READ_NODE(PARENT, node);
        if (has(want, node) && (around != 0U) && !has(stays, around)) {
            add(want, around);
        }
    }
    for (node = 1U; node < NODES; node++) {
        if (has(want, node)) {
            add_initial(chart, want, node);
        }
    }
}

/* Takes the chosen transitions. */
static void take(chart_t *chart, const inputs_t *in, const way_t *chosen, uint8_t count)
{
    uint8_t left[SET_BYTES] = {0U};
    uint8_t want[SET_BYTES] = {0U};
    uint8_t after[SET_BYTES];
    const bool moves = find_left(chart, chosen, count, left);
    node_t node;
    uint8_t k;

    note_history(chart, left);
    for (node = NODES - 1U; node > 0U; node--) {
        if (has(left, node)) {
            leave(chart, in, node);
        }
    }
    for (k = 0U; k < count; k++) {
        act_on_way(chart, in, chosen[k]);
    }
    if (!moves) {
        return;
    }
    for (k = 0U; k < count; k++) {
        add_goals(chart, want, chosen[k]);
    }
    for (k = 0U; k < SET_BYTES; k++) {
        after[k] = (uint8_t)(chart->active[k] & (uint8_t)~left[k]);
    }
    complete(chart, after, want);
    for (node = 1U; node < NODES; node++) {
        if (has(want, node)) {
            add(after, node);
            enter(chart, in, after, node);
        }
    }
    forget_history(chart, after);
    (void)memcpy(chart->active, after, SET_BYTES);
}

/* choice: Notes a transition that a state has chosen, if nobody has before. */
static uint8_t choose(way_t *chosen, uint8_t count, way_t way)
{
    uint8_t k;

    if (way == NO_WAY) {
        return count;
    }
    for (k = 0U; k < count; k++) {
        if (chosen[k] == way) {
            return count;
        }
    }
    chosen[count] = way;
    return (uint8_t)(count + 1U);
}
