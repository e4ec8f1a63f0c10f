import type { Answer } from '../../support/model-script.ts';

/** A tool that the model calls; `item` of the input is the page, if the input has none. */
export type Call = readonly [tool: string, input: Readonly<Record<string, unknown>>];

/** What the model answers in a turn, or what it does when it is asked the n-th time, from 1. */
export type Turn = readonly Call[] | Answer | ((n: number) => readonly Call[] | Answer);

/** A way in which a model misbehaves while it reads one page. */
export interface Behaviour {
  readonly name: string;
  /** What the page says. */
  readonly page: string;
  /** After the last one, the model says that it is done. */
  readonly turns: readonly Turn[];
  /** What no file of ktx may claim. */
  readonly never?: readonly RegExp[];
  /** What has to be claimed: it was accepted. */
  readonly kept?: readonly RegExp[];
  /** True if the page stays unread: nothing of it was accepted or reported. */
  readonly isLeft?: true;
}

/** The paths of two pages, for what points to another one. */
export const picnicPage = 'sources/handbook/picnic.md';
export const picnicSentence = 'Bring a blanket to the picnic, and one bottle of lemonade each.';
