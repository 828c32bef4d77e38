/*
 * Registers of the STM32F103 that the board's code uses. Addresses: RM0008 (STM32F10xxx reference manual),
 * table 3; offsets and bits: the sections named below. Those of the core: ARMv7-M Architecture Reference
 * Manual (DDI 0403), sections B3.2 and B3.3.
 */
#ifndef POSEWRIGHT_CM900_REGISTERS_H
#define POSEWRIGHT_CM900_REGISTERS_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* Reset and clock control, 7.3 */
#define RCC_CR REGISTER(0x40021000UL)
#define RCC_CFGR REGISTER(0x40021004UL)
#define RCC_AHBENR REGISTER(0x40021014UL)
#define RCC_APB2ENR REGISTER(0x40021018UL)
#define RCC_APB1ENR REGISTER(0x4002101CUL)
#define RCC_CSR REGISTER(0x40021024UL)
#define RCC_CR_HSION (1UL << 0)
#define RCC_CR_HSIRDY (1UL << 1)
#define RCC_CR_HSEON (1UL << 16)
#define RCC_CR_HSERDY (1UL << 17)
#define RCC_CR_PLLON (1UL << 24)
#define RCC_CR_PLLRDY (1UL << 25)
#define RCC_CFGR_SW_PLL (2UL << 0)
#define RCC_CFGR_SWS (3UL << 2)
#define RCC_CFGR_SWS_PLL (2UL << 2)
#define RCC_CFGR_PPRE1_DIV2 (4UL << 8)
#define RCC_CFGR_ADCPRE_DIV6 (2UL << 14)
#define RCC_CFGR_PLLSRC_HSE (1UL << 16)
#define RCC_CFGR_PLLMUL(n) (((n) - 2UL) << 18)
#define RCC_CSR_RMVF (1UL << 24)
#define RCC_CSR_IWDGRSTF (1UL << 29)

/* Flash access control, PM0075 (flash programming manual) 3.1 */
#define FLASH_ACR REGISTER(0x40022000UL)
#define FLASH_ACR_LATENCY_2 (2UL << 0)
#define FLASH_ACR_PRFTBE (1UL << 4)

/* General-purpose I/O, 9.2: ports A, B and C */
#define GPIO_PORT(port) (0x40010800UL + (0x400UL * (port)))
#define GPIO_CRL(port) REGISTER(GPIO_PORT(port) + 0x00UL)
#define GPIO_CRH(port) REGISTER(GPIO_PORT(port) + 0x04UL)
#define GPIO_IDR(port) REGISTER(GPIO_PORT(port) + 0x08UL)
#define GPIO_BSRR(port) REGISTER(GPIO_PORT(port) + 0x10UL)

/* Alternate functions, 9.4.2 */
#define AFIO_MAPR REGISTER(0x40010004UL)
#define AFIO_MAPR_USART1_REMAP (1UL << 2)
#define AFIO_MAPR_SWJ_SW_ONLY (2UL << 24)

/* Serial lines, 27.6 */
#define USART1 0x40013800UL
#define USART2 0x40004400UL
#define USART_SR(line) REGISTER((line) + 0x00UL)
#define USART_DR(line) REGISTER((line) + 0x04UL)
#define USART_BRR(line) REGISTER((line) + 0x08UL)
#define USART_CR1(line) REGISTER((line) + 0x0CUL)
#define USART_CR3(line) REGISTER((line) + 0x14UL)
#define USART_SR_TC (1UL << 6)
#define USART_SR_TXE (1UL << 7)
#define USART_CR1_RE (1UL << 2)
#define USART_CR1_TE (1UL << 3)
#define USART_CR1_UE (1UL << 13)
#define USART_CR3_DMAR (1UL << 6)

/* DMA 1, 13.4; its channel 6 is USART2_RX (table 78) */
#define DMA1_CCR6 REGISTER(0x4002006CUL)
#define DMA1_CNDTR6 REGISTER(0x40020070UL)
#define DMA1_CPAR6 REGISTER(0x40020074UL)
#define DMA1_CMAR6 REGISTER(0x40020078UL)
#define DMA_CCR_EN (1UL << 0)
#define DMA_CCR_CIRC (1UL << 5)
#define DMA_CCR_MINC (1UL << 7)

/* Analogue inputs, 11.12 */
#define ADC1_SR REGISTER(0x40012400UL)
#define ADC1_CR2 REGISTER(0x40012408UL)
#define ADC1_SMPR2 REGISTER(0x40012410UL)
#define ADC1_SQR3 REGISTER(0x40012434UL)
#define ADC1_DR REGISTER(0x4001244CUL)
#define ADC_SR_EOC (1UL << 1)
#define ADC_CR2_ADON (1UL << 0)
#define ADC_CR2_CAL (1UL << 2)
#define ADC_CR2_RSTCAL (1UL << 3)
#define ADC_CR2_EXTSEL_SOFTWARE (7UL << 17)
#define ADC_CR2_EXTTRIG (1UL << 20)
#define ADC_CR2_SWSTART (1UL << 22)

/* Independent watchdog, 19.4 */
#define IWDG_KR REGISTER(0x40003000UL)
#define IWDG_PR REGISTER(0x40003004UL)
#define IWDG_RLR REGISTER(0x40003008UL)
#define IWDG_SR REGISTER(0x4000300CUL)
#define IWDG_KR_FEED 0xAAAAUL
#define IWDG_KR_UNLOCK 0x5555UL
#define IWDG_KR_START 0xCCCCUL
#define IWDG_PR_DIV64 4UL

/* System timer and vector table of the core */
#define SYST_CSR REGISTER(0xE000E010UL)
#define SYST_RVR REGISTER(0xE000E014UL)
#define SYST_CVR REGISTER(0xE000E018UL)
#define SYST_CSR_ENABLE (1UL << 0)
#define SCB_VTOR REGISTER(0xE000ED08UL)

#endif
