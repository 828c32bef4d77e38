/* The board's own code: see board.h. No interrupts: time is a counter, and DMA keeps what the line brings. */
#include "board.h"

#include "link.h"
#include "registers.h"
#include "unit.h"

#define LAMP_PIN 2U
#define DIRECTION_PIN 5U
#define HSE_PATIENCE 50000UL /* loops, some 25 ms at 8 MHz: crystals take 2 ms (DS5319, table 23) */
#define SYSTICK_MASK 0xFFFFFFUL
/*
 * Bytes of the line that wait while a step is taken: a question, the same asked again, and some noise. What
 * came beyond that would be damaged, and the computer asks again.
 */
#define KEPT (256U + (2U * (UNIT_INPUT_BYTES + 7U)))
#define WATCHDOG_RELOAD 562UL /* 0.9 s at 40 kHz / 64; the oscillator has 30 to 60 kHz (DS5319, table 26) */

extern const uint32_t vector_table;

static uint32_t core_hz = 64000000UL;
static uint32_t counted;   /* of SysTick when it was read last */
static uint32_t remainder; /* SysTick counts that make no whole microsecond */
static uint32_t time_us;
static volatile uint8_t line[KEPT];
static uint16_t taken; /* where in `line` the next byte is read */
static bool was_hung;

static bool wait_for(const volatile uint32_t *where, uint32_t mask, uint32_t value, uint32_t patience)
{
    while ((*where & mask) != value) {
        if (patience == 0U) {
            return false;
        }
        patience--;
    }
    return true;
}

/*
 * 72 MHz from the crystal of 8 MHz; 64 MHz from the chip's own oscillator where it does not start. RM0008 7.3.2:
 * the bootloader may run on the PLL already, and a PLL that runs cannot be changed. Where no PLL starts either,
 * the core stays at 8 MHz: too slow for the servos' bus, so that nothing moves.
 */
static void start_clock(void)
{
    uint32_t source = RCC_CFGR_PLLMUL(16UL); /* of HSI / 2 */
    RCC_CR |= RCC_CR_HSION;
    (void)wait_for(&RCC_CR, RCC_CR_HSIRDY, RCC_CR_HSIRDY, HSE_PATIENCE);
    RCC_CFGR = 0UL;
    (void)wait_for(&RCC_CFGR, RCC_CFGR_SWS, 0UL, HSE_PATIENCE);
    RCC_CR &= ~RCC_CR_PLLON;
    (void)wait_for(&RCC_CR, RCC_CR_PLLRDY, 0UL, HSE_PATIENCE);
    RCC_CR |= RCC_CR_HSEON;
    if (wait_for(&RCC_CR, RCC_CR_HSERDY, RCC_CR_HSERDY, HSE_PATIENCE)) {
        source = RCC_CFGR_PLLSRC_HSE | RCC_CFGR_PLLMUL(9UL);
        core_hz = 72000000UL;
    }
    FLASH_ACR = FLASH_ACR_LATENCY_2 | FLASH_ACR_PRFTBE; /* PM0075 3.1: two wait states above 48 MHz */
    RCC_CFGR = source | RCC_CFGR_PPRE1_DIV2 | RCC_CFGR_ADCPRE_DIV6; /* APB1 stands 36 MHz, the ADC 14 MHz */
    RCC_CR |= RCC_CR_PLLON;
    if (wait_for(&RCC_CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY, HSE_PATIENCE)) {
        RCC_CFGR |= RCC_CFGR_SW_PLL;
    }
    if (!wait_for(&RCC_CFGR, RCC_CFGR_SWS, RCC_CFGR_SWS_PLL, HSE_PATIENCE)) {
        core_hz = 8000000UL;
    }
}

/* Count an eighth of the core's clock, down over and over: at 9 MHz 1.8 s pass before it begins again. */
static void start_time(void)
{
    SYST_RVR = SYSTICK_MASK;
    SYST_CVR = 0UL;
    SYST_CSR = SYST_CSR_ENABLE;
    counted = SYST_CVR;
}

uint32_t board_time(void)
{
    uint32_t now = SYST_CVR;
    uint32_t counts_per_us = core_hz / 8000000UL;
    remainder += (counted - now) & SYSTICK_MASK;
    counted = now;
    time_us += remainder / counts_per_us;
    remainder %= counts_per_us;
    return time_us;
}

void board_feed_watchdog(void)
{
    IWDG_KR = IWDG_KR_FEED;
}

static void start_watchdog(void)
{
    was_hung = (RCC_CSR & RCC_CSR_IWDGRSTF) != 0UL;
    RCC_CSR |= RCC_CSR_RMVF;
    IWDG_KR = IWDG_KR_START; /* this starts its oscillator, without which PR and RLR take nothing */
    IWDG_KR = IWDG_KR_UNLOCK;
    IWDG_PR = IWDG_PR_DIV64;
    IWDG_RLR = WATCHDOG_RELOAD;
    (void)wait_for(&IWDG_SR, 3UL, 0UL, HSE_PATIENCE);
    board_feed_watchdog();
}

bool board_was_hung(void)
{
    return was_hung;
}

void board_lamp(bool is_lit)
{
    board_set_pin(BOARD_PORT_B, LAMP_PIN, !is_lit);
}

void board_pin_mode(enum board_port port, uint8_t pin, enum board_pin_mode mode)
{
    volatile uint32_t *modes = (pin < 8U) ? &GPIO_CRL((uint32_t)port) : &GPIO_CRH((uint32_t)port);
    uint32_t shift = 4UL * (pin % 8U);
    *modes = (*modes & ~(0xFUL << shift)) | ((uint32_t)mode << shift);
}

bool board_pin(enum board_port port, uint8_t pin)
{
    return ((GPIO_IDR((uint32_t)port) >> pin) & 1UL) != 0UL;
}

void board_set_pin(enum board_port port, uint8_t pin, bool value)
{
    GPIO_BSRR((uint32_t)port) = 1UL << (pin + (value ? 0U : 16U));
}

uint16_t board_analogue(uint8_t channel)
{
    ADC1_SQR3 = channel;
    ADC1_CR2 |= ADC_CR2_SWSTART;
    (void)wait_for(&ADC1_SR, ADC_SR_EOC, ADC_SR_EOC, HSE_PATIENCE);
    return (uint16_t)(ADC1_DR & 0xFFFUL);
}

static void start_analogue(void)
{
    ADC1_SMPR2 = 0x2DB6DB6DUL; /* 55.5 cycles each: for sources up to 50 kOhm (DS5319, table 47) */
    ADC1_CR2 = ADC_CR2_ADON | ADC_CR2_EXTSEL_SOFTWARE | ADC_CR2_EXTTRIG;
    for (volatile uint32_t wait = 0UL; wait < 100UL; wait++) { /* 1 us to stabilize (DS5319, table 46) */
    }
    ADC1_CR2 |= ADC_CR2_RSTCAL;
    (void)wait_for(&ADC1_CR2, ADC_CR2_RSTCAL, 0UL, HSE_PATIENCE);
    ADC1_CR2 |= ADC_CR2_CAL;
    (void)wait_for(&ADC1_CR2, ADC_CR2_CAL, 0UL, HSE_PATIENCE);
}

static void start_lines(void)
{
    AFIO_MAPR = AFIO_MAPR_USART1_REMAP | AFIO_MAPR_SWJ_SW_ONLY; /* JTAG's pins are free, SWD's stay */
    board_pin_mode(BOARD_PORT_B, 6U, BOARD_PIN_ALTERNATE);
    board_pin_mode(BOARD_PORT_B, 7U, BOARD_PIN_INPUT);
    USART_BRR(USART1) = core_hz / BOARD_BUS_BAUD;
    USART_CR1(USART1) = USART_CR1_UE | USART_CR1_TE;

    board_pin_mode(BOARD_PORT_A, 2U, BOARD_PIN_ALTERNATE);
    board_set_pin(BOARD_PORT_A, 3U, true); /* up: with nothing plugged in, the line is idle */
    board_pin_mode(BOARD_PORT_A, 3U, BOARD_PIN_PULLED);
    USART_BRR(USART2) = ((core_hz / 2UL) + (BOARD_LINE_BAUD / 2UL)) / BOARD_LINE_BAUD;
    DMA1_CCR6 = 0UL; /* a channel that runs takes no addresses */
    DMA1_CPAR6 = USART2 + 0x04UL;
    DMA1_CMAR6 = (uint32_t)line;
    DMA1_CNDTR6 = KEPT;
    DMA1_CCR6 = DMA_CCR_MINC | DMA_CCR_CIRC | DMA_CCR_EN;
    USART_CR3(USART2) = USART_CR3_DMAR;
    USART_CR1(USART2) = USART_CR1_UE | USART_CR1_TE | USART_CR1_RE;
}

bool board_receive(uint8_t *byte)
{
    uint16_t written = (uint16_t)((KEPT - DMA1_CNDTR6) % KEPT);
    if (written == taken) {
        return false;
    }
    *byte = line[taken];
    taken = (uint16_t)((taken + 1U) % KEPT);
    return true;
}

static void send(uint32_t usart, uint8_t byte)
{
    while ((USART_SR(usart) & USART_SR_TXE) == 0UL) {
    }
    USART_DR(usart) = byte;
}

void link_put(uint8_t byte)
{
    send(USART2, byte);
}

static void bus_direction(bool is_sending)
{
    board_set_pin(BOARD_PORT_B, DIRECTION_PIN, is_sending);
}

void board_send_bus(const uint8_t *packet, uint16_t bytes)
{
    if (bytes == 0U) {
        return;
    }
    bus_direction(true);
    for (uint16_t k = 0U; k < bytes; k++) {
        send(USART1, packet[k]);
    }
    while ((USART_SR(USART1) & USART_SR_TC) == 0UL) {
    }
    bus_direction(false);
}

void board_init(void)
{
    SCB_VTOR = (uint32_t)&vector_table;
    start_clock();
    RCC_AHBENR |= 1UL << 0;                                            /* DMA1, RM0008 7.3.6 */
    RCC_APB2ENR |= (1UL << 0) | (7UL << 2) | (1UL << 9) | (1UL << 14); /* AFIO, GPIO A-C, ADC1, USART1: 7.3.7 */
    RCC_APB1ENR |= 1UL << 17;                                          /* USART2, 7.3.8 */
    start_watchdog();
    start_time();
    board_lamp(false);
    board_pin_mode(BOARD_PORT_B, LAMP_PIN, BOARD_PIN_OUTPUT);
    bus_direction(false);
    board_pin_mode(BOARD_PORT_B, DIRECTION_PIN, BOARD_PIN_OUTPUT);
    start_lines();
    start_analogue();
}
