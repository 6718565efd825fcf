/** A share in words, `3 %`, to three digits. */
export const percent = (share: number): string => `${Number((100 * share).toPrecision(3))} %`;
