/*
 * An ATmega328P at 16 MHz on libsimavr, driven in lock-step over stdin and stdout: nothing happens but on a
 * command, so that a run depends on its commands alone.
 *
 *   simulator IMAGE.elf
 *
 * A command is a line, its answer one or more lines of which the last begins with `ok` or `error`. Times are
 * cycles since the start, bytes are hexadecimal, addresses are of data memory (without 0x800000) or, for code,
 * in bytes.
 *
 *   run CYCLES             let time pass. Before `ok TIME`: `byte HEX` for what the board sent, and
 *                          `edge PORT PIN LEVEL TIME` for every change of an output pin
 *   send HEX               queue bytes for the board; they arrive one after the other, at 115200 8N1
 *   pin PORT PIN LEVEL     what drives an input pin from outside: 0, 1, or `-` for nothing
 *   volts CHANNEL MV       on an analogue input
 *   peek ADDRESS           `ok VALUE`
 *   reset                  press the reset button
 *   unit WAIT STEP IN N_IN OUT N_OUT FLOOR BUDGET
 *                          for `steps`: where the image waits for a record, the function to be measured, its
 *                          mailbox, the first byte of RAM that no variable needs, the longest wait in cycles
 *   steps COUNT            followed by COUNT records of N_IN bytes: one step for each.
 *                          `ok CYCLES WORST STACK`, then COUNT records of N_OUT bytes
 *
 * Numbers of the UART, ports and timers come from libsimavr's own description of the ATmega328P.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simavr/avr_adc.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#define FREQUENCY 16000000UL
#define BIT_RATE 115200UL
#define BITS_PER_BYTE 10UL /* 8N1 */
#define MAX_QUEUE 65536U
#define MAX_LINE (2U * MAX_QUEUE + 64U)
#define MAX_RECORD 2048U
#define STACK_POINTER 0x5d /* SPL; ATmega328P datasheet, register summary */
#define RUN_LIMIT 64U      /* cycles after which a run looks up from the instructions */

typedef struct {
    avr_flashaddr_t wait, step;
    uint16_t in, n_in, out, n_out, floor;
    avr_cycle_count_t budget;
} unit_t;

typedef struct {
    avr_cycle_count_t total, worst;
    uint16_t stack;
} measured_t;

static const uint32_t PORTS[] = {'B', 'C', 'D'};
static avr_t *avr;
static unit_t unit;
static avr_ioport_external_t driven[3];
static uint8_t queue[MAX_QUEUE];
static size_t queue_first, queue_count;
static uint64_t bytes_begun; /* of a burst, so that rounding of byte times does not add up */
static avr_cycle_count_t burst_began;

static bool is_alive(void)
{
    return avr->state != cpu_Crashed && avr->state != cpu_Done;
}

static void silent(avr_t *which, const int level, const char *format, va_list arguments)
{
    (void)which;
    (void)level;
    (void)format;
    (void)arguments;
}

/* Sleeping takes the board's time, not ours. */
static void sleep_at_once(avr_t *which, avr_cycle_count_t how_long)
{
    (void)which;
    (void)how_long;
}

static void on_byte(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    (void)param;
    printf("byte %02x\n", (unsigned)(value & 0xffU));
}

static void on_edge(struct avr_irq_t *irq, uint32_t value, void *param)
{
    const uint32_t port = *(const uint32_t *)param;
    avr_ioport_state_t state;

    if (irq->value == value || avr_ioctl(avr, AVR_IOCTL_IOPORT_GETSTATE(port), &state) != 0) {
        return;
    }
    if ((state.ddr >> irq->irq) & 1U) {
        printf("edge %c %u %u %" PRIu64 "\n", (int)port, (unsigned)irq->irq, (unsigned)(value & 1U), avr->cycle);
    }
}

static avr_cycle_count_t byte_time(uint64_t n_bytes)
{
    return n_bytes * BITS_PER_BYTE * FREQUENCY / BIT_RATE;
}

static avr_cycle_count_t on_arrival(struct avr_t *which, avr_cycle_count_t when, void *param)
{
    (void)which;
    (void)when;
    (void)param;
    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), queue[queue_first]);
    queue_first = (queue_first + 1U) % MAX_QUEUE;
    queue_count--;
    bytes_begun++;
    return queue_count > 0U ? burst_began + byte_time(bytes_begun) : 0U;
}

static void drive(size_t port)
{
    avr_ioport_external_t *pins = &driven[port];

    avr_ioctl(avr, AVR_IOCTL_IOPORT_SET_EXTERNAL(PORTS[port]), pins);
    for (int pin = 0; pin < 8; pin++) {
        if ((pins->mask >> pin) & 1U) {
            avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(PORTS[port]), pin),
                          (pins->value >> pin) & 1U);
        }
    }
}

/* What simavr does by itself to a serial line would make it a terminal: it must be left to us. */
static void own_the_line(void)
{
    uint32_t flags = 0;

    avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
}

static bool start(const char *path)
{
    static elf_firmware_t firmware;

    avr_global_logger_set(silent);
    if (elf_read_firmware(path, &firmware) != 0) {
        return false;
    }
    avr = avr_make_mcu_by_name("atmega328p");
    if (avr == NULL) {
        return false;
    }
    avr_init(avr);
    avr->frequency = FREQUENCY;
    avr->vcc = avr->avcc = avr->aref = 5000;
    avr_load_firmware(avr, &firmware);
    avr->frequency = FREQUENCY;
    avr->sleep = sleep_at_once;
    own_the_line();
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_byte, NULL);
    for (size_t port = 0; port < 3; port++) {
        driven[port].name = PORTS[port] & 0x7fU;
        for (int pin = 0; pin < 8; pin++) {
            avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(PORTS[port]), pin), on_edge,
                                    (void *)&PORTS[port]);
        }
    }
    return true;
}

static void run(avr_cycle_count_t cycles)
{
    static avr_cycle_count_t until; /* instructions overshoot: what one run took too much the next gives back */

    until = (until == 0U ? avr->cycle : until) + cycles;
    avr->run_cycle_limit = RUN_LIMIT;
    while (avr->cycle < until && is_alive()) {
        avr_run(avr);
    }
    if (is_alive()) {
        printf("ok %" PRIu64 "\n", avr->cycle);
    } else {
        printf("error the processor stopped at %#x\n", (unsigned)avr->pc);
    }
}

static bool enqueue(const char *digits)
{
    unsigned value;
    const size_t before = queue_count;

    for (; sscanf(digits, "%2x", &value) == 1 && queue_count < MAX_QUEUE; digits += 2) {
        queue[(queue_first + queue_count++) % MAX_QUEUE] = (uint8_t)value;
    }
    if (before == 0U && queue_count > 0U) {
        burst_began = avr->cycle;
        bytes_begun = 0U;
        avr_cycle_timer_register(avr, byte_time(1U), on_arrival, NULL);
        bytes_begun = 1U;
    }
    return queue_count < MAX_QUEUE;
}

static bool set_pin(const char *arguments)
{
    char port, level;
    unsigned pin;

    if (sscanf(arguments, "%c %u %c", &port, &pin, &level) != 3 || port < 'B' || port > 'D' || pin > 7U) {
        return false;
    }
    avr_ioport_external_t *pins = &driven[port - 'B'];
    const unsigned bit = 1U << pin;
    pins->mask = (level == '-' ? pins->mask & ~bit : pins->mask | bit) & 0xffU;
    pins->value = (level == '1' ? pins->value | bit : pins->value & ~bit) & 0xffU;
    drive((size_t)(port - 'B'));
    return true;
}

static bool set_volts(const char *arguments)
{
    unsigned channel, millivolts;

    if (sscanf(arguments, "%u %u", &channel, &millivolts) != 2 || channel > 7U) {
        return false;
    }
    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_ADC0 + (int)channel), millivolts);
    return true;
}

static void press_reset(void)
{
    queue_count = 0U;
    avr_reset(avr);
    own_the_line();
    for (size_t port = 0; port < 3; port++) {
        drive(port);
    }
}

static uint16_t stack_pointer(void)
{
    return (uint16_t)(avr->data[STACK_POINTER] | (avr->data[STACK_POINTER + 1] << 8));
}

/*
 * Go on until the image waits for a record. Cycles are those from the first instruction of the measured function
 * to its return, both included; the call is not. The stack is that below whoever waits.
 */
static const char *until_waiting(measured_t *measured)
{
    const avr_cycle_count_t limit = avr->cycle + unit.budget;
    const uint16_t base = stack_pointer();
    uint16_t lowest = base, outside = 0U;
    avr_cycle_count_t entered = 0U;

    do {
        avr_run(avr);
        const uint16_t top = stack_pointer();
        lowest = top < lowest ? top : lowest;
        if (outside == 0U && avr->pc == unit.step) {
            entered = avr->cycle;
            outside = (uint16_t)(top + 2U); /* the return address is off the stack again */
        } else if (outside != 0U && top == outside) {
            const avr_cycle_count_t taken = avr->cycle - entered;
            measured->total += taken;
            measured->worst = taken > measured->worst ? taken : measured->worst;
            outside = 0U;
        }
        if (!is_alive()) {
            return "the processor stopped";
        }
        if (avr->cycle > limit) {
            return "no answer within the time for a step";
        }
        if (base != 0U && lowest < unit.floor) {
            return "the stack has grown into the variables";
        }
    } while (avr->pc != unit.wait);
    if (base != 0U && (uint16_t)(base - lowest) > measured->stack) {
        measured->stack = (uint16_t)(base - lowest);
    }
    return NULL;
}

static void steps(unsigned long count)
{
    uint8_t *inputs = malloc(count * unit.n_in + 1U), *states = malloc(count * unit.n_out + 1U);
    measured_t measured = {0U, 0U, 0U}, before = {0U, 0U, 0U};
    const char *wrong = NULL;
    unsigned long done = 0;

    if (inputs == NULL || states == NULL || fread(inputs, 1U, count * unit.n_in, stdin) != count * unit.n_in) {
        exit(1);
    }
    avr->run_cycle_limit = 1; /* one instruction at a time */
    if (avr->pc != unit.wait) {
        wrong = until_waiting(&before);
    }
    while (wrong == NULL && done < count) {
        memcpy(&avr->data[unit.in], &inputs[done * unit.n_in], unit.n_in);
        wrong = until_waiting(&measured);
        memcpy(&states[done * unit.n_out], &avr->data[unit.out], unit.n_out);
        done += wrong == NULL ? 1U : 0U;
    }
    if (wrong != NULL) {
        printf("error %s (step %lu)\n", wrong, done);
    } else {
        printf("ok %" PRIu64 " %" PRIu64 " %u\n", measured.total, measured.worst, (unsigned)measured.stack);
        fwrite(states, 1U, count * unit.n_out, stdout);
    }
    free(inputs);
    free(states);
}

static bool read_unit(const char *arguments)
{
    return sscanf(arguments, "%" SCNu32 " %" SCNu32 " %hu %hu %hu %hu %hu %" SCNu64, &unit.wait, &unit.step,
                  &unit.in, &unit.n_in, &unit.out, &unit.n_out, &unit.floor, &unit.budget) == 8
           && unit.n_in <= MAX_RECORD && unit.n_out <= MAX_RECORD;
}

/* Do what a line says; the commands that answer by themselves return early. */
static void obey(const char *line)
{
    bool good = true;
    char name[8] = "";
    int used = 0;

    sscanf(line, "%7s %n", name, &used);
    const char *arguments = line + used;
    if (strcmp(name, "run") == 0) {
        run(strtoull(arguments, NULL, 10));
        return;
    }
    if (strcmp(name, "steps") == 0) {
        steps(strtoul(arguments, NULL, 10));
        return;
    }
    if (strcmp(name, "peek") == 0) {
        printf("ok %u\n", (unsigned)avr->data[strtoul(arguments, NULL, 10) % (avr->ramend + 1UL)]);
        return;
    }
    if (strcmp(name, "send") == 0) {
        good = enqueue(arguments);
    } else if (strcmp(name, "pin") == 0) {
        good = set_pin(arguments);
    } else if (strcmp(name, "volts") == 0) {
        good = set_volts(arguments);
    } else if (strcmp(name, "unit") == 0) {
        good = read_unit(arguments);
    } else if (strcmp(name, "reset") == 0) {
        press_reset();
    } else {
        good = false;
    }
    printf(good ? "ok\n" : "error not understood: %s", line);
}

int main(int count, char **arguments)
{
    static char line[MAX_LINE];

    if (count != 2 || !start(arguments[1])) {
        puts("error no image");
        return 1;
    }
    puts("ok");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        obey(line);
        fflush(stdout);
    }
    return 0;
}
