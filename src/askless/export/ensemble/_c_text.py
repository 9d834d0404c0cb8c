"""The parts of a C program that are the same for every ensemble."""

from __future__ import annotations

__all__ = [
    "CASE",
    "DEEP",
    "DEEP_SCRATCH",
    "HEAD",
    "JOINT",
    "LEAVES",
    "LIVE",
    "LIVE_SCRATCH",
    "NAMES",
    "NOT_JOINT",
    "OUTCOMES",
    "OUTCOME_SCRATCH",
    "TYPES",
    "WHOLE",
]

HEAD = """\
/* Decides one case. Written by Askless; C99, needs nothing but the standard library.

   {summary}

   Compile it as C99 (-std=c99), or without fused operations (-ffp-contract=off), and
   link it with -lm. Nothing is allocated; a case takes sizeof(askless_case) bytes, so
   make it static, or allocate it.

       static askless_case one;
       askless_start(&one);
       for (int test; (test = askless_next(&one)) >= 0;)
           askless_answer_number(&one, measure(askless_tests[test]));
       puts(askless_classes[askless_decide(&one)]);

   int    askless_next(c)              what to ask next, -1 once nothing more is needed
   double askless_price(c)             what that would charge now
   int    askless_answer_number(c, x)  what it has shown: a number; NaN if missing
   int    askless_answer_text(c, text) the same, as text; NULL if missing
   void   askless_skip(c, paid)        go on without it; paid: it was run, for nothing
   double askless_spent(c)             what was spent so far
   int    askless_decide(c)            the class that it would come to; no classes: -1
   double askless_number(c)            the number that it would come to; classes: NaN
   void   askless_probabilities(c, p)  the probability of each class
   void   askless_full(values, p, ...) what the full model says; see there

   Answers return 0, or -1 if the test does not show such a thing; then nothing was
   noted. Outcomes never seen are taken as such. Define ASKLESS_API, for example as
   static, to give all functions and tables that storage class. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "Compile without -ffast-math: sums must be added as they are written."
#endif
#ifndef ASKLESS_API
#define ASKLESS_API
#endif

"""

TYPES = """
typedef struct {
    int32_t n_waiting, next, n_asked, lift;
    int32_t asked[N_TESTS], code[N_TESTS], top[N_TREES];
    uint8_t state[N_TESTS], paid[N_TESTS], is_open[N_GROUPS];
    double spent;
    int64_t lifted; /* that of the sum `lift`, if there is one, instead of `total` */
    int64_t total[N_OUTPUTS], low[N_OUTPUTS], high[N_OUTPUTS];
    int64_t spread[N_KINDS], need[N_KINDS][N_TESTS];
    SCRATCH
} askless_case;

enum { CLOSED, BOUGHT, SKIPPED };

/* Values. */

static int code_of_number(int test, double number)
{
    int low = CUT_START[test], high = CUT_START[test + 1];
    if (number != number)
        return N_LEVELS[test];
    if (IS_CATEGORY[test]) {
        for (int i = NUMBER_START[test]; i < NUMBER_START[test + 1]; i++)
            if (NUMBERS[i] == number)
                return NUMBER_CODES[i];
        return N_LEVELS[test] + 1;
    }
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (CUTS[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low - CUT_START[test];
}

static int code_of_text(int test, const char *text)
{
    if (text == NULL)
        return N_LEVELS[test];
    if (!IS_CATEGORY[test])
        return -1;
    for (int i = TEXT_START[test]; i < TEXT_START[test + 1]; i++)
        if (strcmp(TEXTS[i], text) == 0)
            return TEXT_CODES[i];
    return N_LEVELS[test] + 1;
}

/* Trees. */

static int goes_left(int node, int code)
{
    int test = TEST[node];
    if (FLAGS[node] & IS_SET)
        return SETS[CUT[node]][code] == 'L';
    return code < N_LEVELS[test] ? code <= CUT[node] : FLAGS[node] & MISSING_LEFT;
}

/* The first node from here on whose test is not known, or a leaf. */
static int descend(const askless_case *c, int node)
{
    while (TEST[node] >= 0 && c->state[TEST[node]] == BOUGHT)
        node = goes_left(node, c->code[TEST[node]]) ? node + 1 : RIGHT[node];
    return node;
}
"""

WHOLE = """
/* Add what a tree amounts to, or take it back. */
static void add_tree(askless_case *c, int tree, int sign)
{
    int top = descend(c, TREE_START[tree]);
    int first = OUTPUT[tree], kind = N_KINDS > 1 ? first : 0;
    c->top[tree] = top;
    for (int q = 0; q < WIDTH; q++) {
        c->total[first + q] += sign * WHOLE_MEAN[top * WIDTH + q];
        c->low[first + q] += sign * WHOLE_LOW[top * WIDTH + q];
        c->high[first + q] += sign * WHOLE_HIGH[top * WIDTH + q];
    }
    c->spread[kind] += sign * WHOLE_SPREAD[top];
    if (TEST[top] >= 0) {
        c->need[kind][TEST[top]] += sign * WHOLE_SCORE[top];
        c->n_waiting += sign;
    }
}
"""

LIVE = """
/* List the open splits of a tree, parents first, with their children; bound leaves.
   Scratch is by place in the tree. Returns how many splits there are. */
static int list_live(askless_case *c, int top, int base)
{
    int n = 0, n_stack = 1;
    c->stack[0] = top;
    while (n_stack > 0) {
        int node = c->stack[--n_stack];
        int children[2];
        children[0] = descend(c, node + 1);
        children[1] = descend(c, RIGHT[node]);
        c->live[n++] = node;
        c->left[node - base] = children[0];
        c->right[node - base] = children[1];
        for (int i = 0; i < 2; i++) {
            int at = children[i] - base;
            if (TEST[children[i]] >= 0) {
                c->stack[n_stack++] = children[i];
                continue;
            }
            for (int q = 0; q < WIDTH; q++) {
                double value = VALUE[children[i] * WIDTH + q];
                c->least[at][q] = (int64_t) floor(value * UNIT);
                c->most[at][q] = (int64_t) ceil(value * UNIT);
            }
        }
    }
    return n;
}

/* Bound a split by its two children. */
static void bound(askless_case *c, int at, int left, int right)
{
    for (int q = 0; q < WIDTH; q++) {
        int64_t a = c->least[left][q], b = c->least[right][q];
        c->least[at][q] = a < b ? a : b;
        a = c->most[left][q];
        b = c->most[right][q];
        c->most[at][q] = a > b ? a : b;
    }
}
"""

DEEP = """
/* Load a node, if it is a leaf. */
static void load(askless_case *c, int node, int base)
{
    if (TEST[node] >= 0)
        return;
    c->weight[node - base] = WEIGHT[node];
    c->variance[node - base] = 0.0;
    for (int q = 0; q < WIDTH; q++)
        c->mean[node - base][q] = VALUE[node * WIDTH + q];
}

/* Work out what an open split amounts to, from its two children. */
static void join(askless_case *c, int at, int left, int right)
{
    double wl = c->weight[left], wr = c->weight[right], both = wl + wr;
    double spread = wl * c->variance[left] + wr * c->variance[right], gaps = 0.0;
    for (int q = 0; q < WIDTH; q++) {
        double a = c->mean[left][q], b = c->mean[right][q], gap = a - b;
        spread = spread + wl * wr / both * gap * gap;
        gaps = gaps + fabs(gap);
        c->mean[at][q] = (wl * a + wr * b) / both;
    }
    c->weight[at] = both;
    c->variance[at] = spread / both;
    c->gap[at] = sqrt(wl * wr) * gaps;
}

/* Add what a tree amounts to, from the leaves that it can still reach, or take it
   back. */
static void add_tree(askless_case *c, int tree, int sign)
{
    int base = TREE_START[tree], top = descend(c, base);
    int first = OUTPUT[tree], kind = N_KINDS > 1 ? first : 0;
    int n;
    c->top[tree] = top;
    if (TEST[top] < 0) {
        for (int q = 0; q < WIDTH; q++) {
            double value = VALUE[top * WIDTH + q];
            c->total[first + q] += sign * (int64_t) llrint(value * UNIT);
            c->low[first + q] += sign * (int64_t) floor(value * UNIT);
            c->high[first + q] += sign * (int64_t) ceil(value * UNIT);
        }
        return;
    }
    n = list_live(c, top, base);
    for (int i = n - 1; i >= 0; i--) {
        int at = c->live[i] - base;
        load(c, c->left[at], base);
        load(c, c->right[at], base);
        join(c, at, c->left[at] - base, c->right[at] - base);
        bound(c, at, c->left[at] - base, c->right[at] - base);
    }
    for (int i = 0; i < n; i++) {
        double part = c->gap[c->live[i] - base] / c->weight[top - base] * SCORE_UNIT;
        c->need[kind][TEST[c->live[i]]] += sign * (1 + (int64_t) llrint(part));
    }
    c->spread[kind] += sign * (int64_t) llrint(c->variance[top - base] * SPREAD_UNIT);
    for (int q = 0; q < WIDTH; q++) {
        int64_t low = c->least[top - base][q], high = c->most[top - base][q];
        int64_t mean = llrint(c->mean[top - base][q] * UNIT);
        c->total[first + q] += sign * (mean < low ? low : mean > high ? high : mean);
        c->low[first + q] += sign * low;
        c->high[first + q] += sign * high;
    }
    c->n_waiting += sign;
}
"""

OUTCOMES = """
/* Add the bounds of a tree for each outcome of the test at its top: noted where runs
   of codes begin and end. */
static void add_runs(askless_case *c, int tree)
{
    int base = TREE_START[tree], top = c->top[tree], test = TEST[top];
    int first = OUTPUT[tree], n = list_live(c, top, base), begin = 0;
    int n_levels = N_LEVELS[test], n_codes = n_levels + 2;
    memset(c->is_end, 0, sizeof c->is_end);
    c->is_end[n_levels] = c->is_end[n_codes] = 1;
    for (int i = 0; i < n; i++) {
        int node = c->live[i];
        if (TEST[node] != test)
            continue;
        if (FLAGS[node] & IS_SET)
            memset(c->is_end, 1, (size_t) n_codes + 1);
        else
            c->is_end[CUT[node] + 1] = 1;
    }
    for (int end = 1; end <= n_codes; end++) {
        if (!c->is_end[end])
            continue;
        for (int i = n - 1; i >= 0; i--) {
            int at = c->live[i] - base;
            int left = c->left[at] - base, right = c->right[at] - base;
            if (TEST[c->live[i]] == test) {
                if (goes_left(c->live[i], end - 1))
                    right = left;
                else
                    left = right;
            }
            bound(c, at, left, right);
        }
        for (int q = 0; q < WIDTH; q++) {
            int64_t low = c->least[top - base][q], high = c->most[top - base][q];
            c->sum_low[first + q][CODE_START[test] + begin] += low;
            c->sum_low[first + q][CODE_START[test] + end] -= low;
            c->sum_high[first + q][CODE_START[test] + begin] += high;
            c->sum_high[first + q][CODE_START[test] + end] -= high;
        }
        begin = end;
    }
}

/* Add up the bounds of all trees for each outcome of the tests that they wait for. */
static void add_outcomes(askless_case *c)
{
    memset(c->sum_low, 0, sizeof c->sum_low);
    memset(c->sum_high, 0, sizeof c->sum_high);
    for (int q = 0; q < N_OUTPUTS; q++)
        c->ended_low[q] = c->ended_high[q] = START[q];
    for (int tree = 0; tree < MODEL_TREES; tree++) {
        int top = c->top[tree];
        if (TEST[top] >= 0) {
            add_runs(c, tree);
            continue;
        }
        for (int q = 0; q < WIDTH; q++) {
            double value = VALUE[top * WIDTH + q];
            c->ended_low[OUTPUT[tree] + q] += (int64_t) floor(value * UNIT);
            c->ended_high[OUTPUT[tree] + q] += (int64_t) ceil(value * UNIT);
        }
    }
    for (int q = 0; q < N_OUTPUTS; q++)
        for (int code = 1; code < N_CODES; code++) {
            c->sum_low[q][code] += c->sum_low[q][code - 1];
            c->sum_high[q][code] += c->sum_high[q][code - 1];
        }
}

/* The least that a sum can come to, or how far it is ahead of another one. */
static int64_t least_sum(const askless_case *c, int of, int against)
{
    int64_t total = c->ended_low[of] - (against < 0 ? 0 : c->ended_high[against]);
    for (int test = 0; test < MODEL_TESTS; test++) {
        int64_t best = INT64_MAX;
        for (int code = CODE_START[test]; code < CODE_START[test + 1]; code++) {
            int64_t here = c->sum_low[of][code];
            here -= against < 0 ? 0 : c->sum_high[against][code];
            best = here < best ? here : best;
        }
        total += best;
    }
    return total;
}

static int64_t largest_sum(const askless_case *c, int of)
{
    int64_t total = c->ended_high[of];
    for (int test = 0; test < MODEL_TESTS; test++) {
        int64_t best = INT64_MIN;
        for (int code = CODE_START[test]; code < CODE_START[test + 1]; code++)
            best = c->sum_high[of][code] > best ? c->sum_high[of][code] : best;
        total += best;
    }
    return total;
}

"""

JOINT = """
/* Whether the lead is a good part of what other bounds leave open. */
static int is_near(const askless_case *c, int first)
{
    if (TARGET == TWO_CLASSES) {
        double lead = (double) (first ? c->total[0] : -c->total[0]);
        int64_t open = first ? c->total[0] - c->low[0] : c->high[0] - c->total[0];
        return lead >= 0.35 * (double) open;
    }
    for (int q = 0; q < N_OUTPUTS; q++) {
        double open = (double) (c->total[first] - c->low[first]);
        open = open + (double) (c->high[q] - c->total[q]);
        if (q != first && (double) (c->total[first] - c->total[q]) < 0.35 * open)
            return 0;
    }
    return 1;
}

/* Whether no outcome of what is open can change who leads: trees that wait for the same
   test agree on what it will show. */
static int holds_jointly(askless_case *c, int first)
{
    if (!is_near(c, first))
        return 0;
    add_outcomes(c);
    if (TARGET == TWO_CLASSES)
        return first ? least_sum(c, 0, -1) > SLACK : largest_sum(c, 0) < -SLACK;
    for (int q = 0; q < N_OUTPUTS; q++)
        if (q != first && least_sum(c, first, q) <= SLACK)
            return 0;
    return 1;
}
"""

LEAVES = """
/* Let a class that is ahead lead by at least so much: what is expected looks at whole
   subtrees, and may say something else. */
static void lift(askless_case *c, int first)
{
    int64_t sum = c->total[first];
    c->lift = first;
    if (TARGET == TWO_CLASSES) {
        sum = c->total[c->lift = 0];
        if (first && sum <= SLACK)
            sum = least_sum(c, 0, -1);
        else if (!first && sum >= -SLACK)
            sum = largest_sum(c, 0);
    }
    for (int q = 0; q < N_OUTPUTS && TARGET != TWO_CLASSES; q++)
        if (q != first && sum - c->total[q] <= SLACK)
            sum = c->total[q] + least_sum(c, first, q);
    c->lifted = sum;
}

/* Whether a class is ahead of all others, whatever is open shows, by the leaves that
   are left: trees that wait for the same test agree on what it will show. */
static int holds_jointly(askless_case *c, int leads)
{
    int n = TARGET == TWO_CLASSES ? 2 : N_OUTPUTS;
    (void) leads;
    add_outcomes(c);
    for (int first = 0; first < n; first++) {
        int is_ahead = 1;
        if (TARGET == TWO_CLASSES)
            is_ahead = first ? least_sum(c, 0, -1) > SLACK : largest_sum(c, 0) < -SLACK;
        for (int q = 0; q < N_OUTPUTS && TARGET != TWO_CLASSES; q++)
            is_ahead &= q == first || least_sum(c, first, q) > SLACK;
        if (is_ahead) {
            lift(c, first);
            return 1;
        }
    }
    return 0;
}
"""

NOT_JOINT = """
static int holds_jointly(askless_case *c, int first)
{
    (void) c;
    (void) first;
    return 0;
}
"""

CASE = """
/* Prices. */

static double price_of(const askless_case *c, int test, int code)
{
    if (c->paid[test])
        return 0.0;
    if (code >= 0 && code < PRICED_START[test + 1] - PRICED_START[test])
        return PRICED[PRICED_START[test] + code];
    if (GROUP[test] >= 0 && c->is_open[GROUP[test]])
        return DISCOUNTED[test];
    return FULL[test];
}

static int is_wanted(const askless_case *c, int test)
{
    if (c->state[test] != CLOSED)
        return 0;
    for (int kind = 0; kind < N_KINDS; kind++)
        if (c->need[kind][test] > 0)
            return 1;
    return !IS_DEEP;
}

/* Charge for a test; a delayed one orders all that may still be asked. */
static double charge(askless_case *c, int test, int code)
{
    double amount = 0.0;
    int is_order = DELAYED[test] && !c->paid[test];
    for (int other = 0; other < MODEL_TESTS; other++) {
        if (is_order ? !is_wanted(c, other) : other != test)
            continue;
        amount = amount + price_of(c, other, is_order ? -1 : code);
        c->paid[other] = 1;
        if (GROUP[other] >= 0)
            c->is_open[GROUP[other]] = 1;
    }
    return amount;
}

/* The most that a test can charge now, whatever it shows. */
static double most_charged(const askless_case *c, int test)
{
    double most = 0.0;
    if (DELAYED[test] && !c->paid[test]) {
        askless_case tried = *c;
        return charge(&tried, test, -1);
    }
    for (int code = -1; code < N_LEVELS[test]; code++) {
        double price = price_of(c, test, code);
        most = price > most ? price : most;
    }
    return most;
}

/* What to buy. */

/* The largest sum but one that is left out; of equal ones the first. */
static int best_of(const int64_t *sums, int left_out)
{
    int best = left_out == 0 ? 1 : 0;
    for (int q = best + 1; q < N_OUTPUTS; q++)
        if (q != left_out && sums[q] > sums[best])
            best = q;
    return best;
}

/* Whether no other class can overtake one. */
static int holds(const askless_case *c, int first)
{
    for (int q = 0; q < N_OUTPUTS; q++) {
        int64_t margin = c->low[first] - c->high[q] - SLACK;
        if (q != first && (margin < 0 || (margin == 0 && !(IS_VOTE && first < q))))
            return 0;
    }
    return 1;
}

static double score_of(const askless_case *c, int test, int first, int second)
{
    double score = 0.0, price;
    if (c->state[test] != CLOSED)
        return 0.0;
    for (int kind = 0; kind < N_KINDS; kind++) {
        double need = (double) c->need[kind][test];
        score = score + (kind == first || kind == second ? need : 0.3 * need);
    }
    if (score <= 0.0)
        return 0.0;
    price = price_of(c, test, -1);
    if (price <= 0.0)
        return INFINITY;
    return score * (1.0 / (price > 1e-270 ? price : 1e-270) * EAGERNESS[test]);
}

/* The test that most waits for, for its price; -1 if nothing does. */
static int choose(const askless_case *c, int first, int second)
{
    double best = 0.0;
    for (int test = 0; test < MODEL_TESTS; test++) {
        double score = score_of(c, test, first, second);
        best = score > best ? score : best;
    }
    for (int test = 0; test < MODEL_TESTS && best > 0.0; test++)
        if (score_of(c, test, first, second) * (1.0 + 1e-12) >= best)
            return test;
    return -1;
}

/* What waits for all tests, in one or two kinds of trees. */
static int64_t awaited(const askless_case *c, int first, int second)
{
    int64_t total = 0;
    for (int test = 0; test < MODEL_TESTS; test++)
        total += c->need[first][test] + (second == first ? 0 : c->need[second][test]);
    return total;
}

/* See who leads, whether that can change, and what to buy next. */
static void look(askless_case *c)
{
    int first = c->total[0] > 0, second = first, is_settled;
    int64_t open;
    double lead = 1.0, deviation, z;
    c->next = c->lift = -1;
    if (c->n_waiting == 0)
        return;
    if (TARGET == NUMBER) {
        is_settled = c->high[0] - c->low[0] <= TOLERANCE;
    } else if (TARGET == TWO_CLASSES) {
        is_settled = c->low[0] > SLACK || c->high[0] < -SLACK;
        lead = fabs((double) c->total[0]) / UNIT;
    } else {
        is_settled = holds(c, best_of(IS_VOTE ? c->low : c->total, -1));
        first = best_of(c->total, -1);
        second = N_OUTPUTS > 1 ? best_of(c->total, first) : first;
        lead = (double) (c->total[first] - c->total[second]) / UNIT;
    }
    if (!is_settled)
        is_settled = holds_jointly(c, first);
    if (N_KINDS == 1)
        first = second = 0;
    if (VARIES_TOGETHER) {
        deviation = (double) awaited(c, first, second) / SCORE_UNIT;
    } else {
        open = c->spread[first] + (second == first ? 0 : c->spread[second]);
        deviation = sqrt((double) open / SPREAD_UNIT);
    }
    z = deviation > 0.0 ? lead / deviation : INFINITY;
    if ((THRESHOLD < INFINITY && z >= THRESHOLD) || (is_settled && !IS_COMPLETE))
        return;
    c->next = choose(c, first, second);
    if (c->next >= 0 && c->spent + most_charged(c, c->next) > MAX_COST)
        c->next = -1;
}

/* Sums. */

/* Add up the trees, in the order and precision of the source. */
static void add_up(const int32_t *top, double *sums)
{
    for (int q = 0; q < N_OUTPUTS; q++)
        sums[q] = OFFSET[q];
    for (int tree = 0; tree < MODEL_TREES; tree++)
        for (int q = 0; q < WIDTH; q++) {
            double value = VALUE[top[tree] * WIDTH + q];
            double *sum = sums + OUTPUT[tree] + q;
            if (IS_SINGLE) {
                volatile float small = (float) *sum + (float) value;
                *sum = small;
            } else {
                *sum += value;
            }
        }
}

static void sums_of(const askless_case *c, double *sums)
{
    if (c->n_waiting == 0) {
        add_up(c->top, sums);
        return;
    }
    for (int q = 0; q < N_OUTPUTS; q++)
        sums[q] = (double) (q == c->lift ? c->lifted : c->total[q]) / UNIT;
}

static double sigmoid(double score)
{
    if (IS_SINGLE) {
        float power = -(float) score;
        power = expf(power > 88.7f ? 88.7f : power);
        return 1.0f / (power + 1.0f + 1e-16f);
    }
    return 1.0 / (1.0 + exp(-SLOPE * score));
}

static void softmax(const double *scores, double *p)
{
    double largest = SLOPE * scores[0], total = 0.0;
    for (int q = 1; q < N_OUTPUTS; q++)
        largest = SLOPE * scores[q] > largest ? SLOPE * scores[q] : largest;
    for (int q = 0; q < N_OUTPUTS; q++) {
        p[q] = IS_SINGLE ? (double) expf((float) scores[q] - (float) largest)
                         : exp(SLOPE * scores[q] - largest);
        total += p[q];
    }
    for (int q = 0; q < N_OUTPUTS; q++)
        p[q] = IS_SINGLE ? (double) ((float) p[q] / (float) total) : p[q] / total;
}

static void shares_of(const double *sums, double *p)
{
    double scores[N_OUTPUTS], total = 0.0;
    for (int q = 0; q < N_OUTPUTS; q++)
        total += scores[q] = sums[q] / DIVISOR;
    if (LINK == SOFTMAX) {
        softmax(scores, p);
    } else if (LINK == LOGIT) {
        p[1] = sigmoid(scores[0]);
        p[0] = IS_SINGLE ? (double) (float) (1.0 - p[1]) : 1.0 - p[1];
    } else {
        for (int q = 0; q < N_OUTPUTS; q++)
            p[q] = LINK == ONE_VS_REST ? sigmoid(scores[q])
                 : LINK == SHARE       ? scores[q]
                 : total > 0.0         ? scores[q] / total : 1.0 / N_OUTPUTS;
    }
}

static int decide_by(const double *sums)
{
    double p[N_CLASSES + 1], best;
    int n = LINK == LOGIT ? 2 : N_OUTPUTS;
    if (N_CLASSES == 0)
        return -1;
    if (LINK == LOGIT && DECIDES_BY != PROBABILITY)
        return DECIDES_BY == AT_LEAST_0 ? sums[0] / DIVISOR >= 0.0
                                        : sums[0] / DIVISOR > 0.0;
    if (DECIDES_BY == PROBABILITY)
        shares_of(sums, p);
    else
        for (int q = 0; q < n; q++)
            p[q] = sums[q] / DIVISOR;
    best = p[0];
    for (int q = 1; q < n; q++)
        best = p[q] > best ? p[q] : best;
    if (DECIDES_BY == NEARLY)
        best = best - 1e-12 * fabs(best);
    for (int q = 0; q < n; q++)
        if (p[q] >= best)
            return q;
    return -1;
}

static double number_of(const double *sums)
{
    double score = sums[0] / DIVISOR;
    if (N_CLASSES > 0)
        return NAN;
    if (LINK == EXP)
        return IS_SINGLE ? (double) expf((float) score) : exp(score);
    return LINK == SIGMOID ? sigmoid(score) : score;
}

/* What can be called. */

ASKLESS_API void askless_start(askless_case *c)
{
    memset(c, 0, sizeof *c);
    for (int q = 0; q < N_OUTPUTS; q++)
        c->total[q] = c->low[q] = c->high[q] = START[q];
    for (int tree = 0; tree < MODEL_TREES; tree++)
        add_tree(c, tree, 1);
    look(c);
}

ASKLESS_API int askless_next(const askless_case *c)
{
    return c->next;
}

ASKLESS_API double askless_price(askless_case *c)
{
    uint8_t paid[N_TESTS], is_open[N_GROUPS];
    double price;
    if (c->next < 0)
        return 0.0;
    memcpy(paid, c->paid, sizeof paid);
    memcpy(is_open, c->is_open, sizeof is_open);
    price = charge(c, c->next, -1);
    memcpy(c->paid, paid, sizeof paid);
    memcpy(c->is_open, is_open, sizeof is_open);
    return price;
}

static int answer(askless_case *c, int code)
{
    int test = c->next;
    if (code < 0)
        return -1;
    c->spent += charge(c, test, code);
    c->asked[c->n_asked++] = test;
    for (int i = USER_START[test]; i < USER_START[test + 1]; i++)
        if (TEST[c->top[USERS[i]]] >= 0)
            add_tree(c, USERS[i], -1);
    c->code[test] = code;
    c->state[test] = BOUGHT;
    for (int i = USER_START[test]; i < USER_START[test + 1]; i++)
        if (TEST[c->top[USERS[i]]] >= 0)
            add_tree(c, USERS[i], 1);
    look(c);
    return 0;
}

ASKLESS_API int askless_answer_number(askless_case *c, double number)
{
    return c->next < 0 ? -1 : answer(c, code_of_number(c->next, number));
}

ASKLESS_API int askless_answer_text(askless_case *c, const char *text)
{
    return c->next < 0 ? -1 : answer(c, code_of_text(c->next, text));
}

ASKLESS_API void askless_skip(askless_case *c, int paid)
{
    if (c->next < 0)
        return;
    if (paid)
        c->spent += charge(c, c->next, -1);
    c->state[c->next] = SKIPPED;
    look(c);
}

ASKLESS_API double askless_spent(const askless_case *c)
{
    return c->spent;
}

ASKLESS_API int askless_decide(const askless_case *c)
{
    double sums[N_OUTPUTS];
    sums_of(c, sums);
    return decide_by(sums);
}

ASKLESS_API double askless_number(const askless_case *c)
{
    double sums[N_OUTPUTS];
    sums_of(c, sums);
    return number_of(sums);
}

ASKLESS_API void askless_probabilities(const askless_case *c, double *p)
{
    double sums[N_OUTPUTS];
    sums_of(c, sums);
    if (N_CLASSES > 0)
        shares_of(sums, p);
}

/* What the full model says. A value for each test: a number, or, of a category, the
   place of the outcome in the list of its test, -1 if never seen; NaN if missing.
   Writes the probability of each class if p is not NULL, the sums if sums is not NULL,
   and the number if number is not NULL; returns the class, -1 without classes. */
ASKLESS_API int askless_full(
    askless_case *c, const double *values, double *p, double *sums, double *number)
{
    double found[N_OUTPUTS];
    memset(c, 0, sizeof *c);
    for (int test = 0; test < MODEL_TESTS; test++) {
        int n_levels = N_LEVELS[test];
        c->state[test] = BOUGHT;
        c->code[test] = !IS_CATEGORY[test] || values[test] != values[test]
                            ? code_of_number(test, values[test])
                        : values[test] >= 0 && values[test] < n_levels
                            ? (int) values[test] : n_levels + 1;
    }
    for (int tree = 0; tree < MODEL_TREES; tree++)
        c->top[tree] = descend(c, TREE_START[tree]);
    add_up(c->top, found);
    if (p != NULL && N_CLASSES > 0)
        shares_of(found, p);
    if (sums != NULL)
        memcpy(sums, found, sizeof found);
    if (number != NULL)
        *number = number_of(found);
    return decide_by(found);
}
"""

LIVE_SCRATCH = """\
int32_t stack[MOST_NODES], live[MOST_NODES], left[MOST_NODES], right[MOST_NODES];
    int64_t least[MOST_NODES][WIDTH], most[MOST_NODES][WIDTH];"""

DEEP_SCRATCH = """
    double weight[MOST_NODES], variance[MOST_NODES], gap[MOST_NODES];
    double mean[MOST_NODES][WIDTH];"""

OUTCOME_SCRATCH = """
    uint8_t is_end[MOST_CODES + 1];
    int64_t sum_low[N_OUTPUTS][N_CODES + 1], sum_high[N_OUTPUTS][N_CODES + 1];
    int64_t ended_low[N_OUTPUTS], ended_high[N_OUTPUTS];"""

NAMES = """\
enum { TWO_CLASSES, SEVERAL, NUMBER };
enum { SHARE, COUNT, LOGIT, SOFTMAX, ONE_VS_REST, IDENTITY, EXP, SIGMOID };
enum { RAW, NEARLY, AT_LEAST_0, PROBABILITY };
enum { MISSING_LEFT = 1, IS_SET = 2 };

"""
