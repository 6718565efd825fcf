import type { Page } from './document.ts';

/** A page that is not made yet: the digest of what it is made from, and how. */
export interface PagePlan {
  inputs: Readonly<Record<string, string>>;
  /** Where it goes when nobody says. */
  out: string;
  /** What is printed once it is there. */
  printed: string;
  make(): Promise<Omit<Page, 'made'>>;
}
