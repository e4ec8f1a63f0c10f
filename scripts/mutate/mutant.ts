/** One deliberate fault of the source, and the tests that must notice it. */
export interface Mutant {
  /** Unique, in kebab-case. */
  readonly name: string;
  /** A file below `src/`. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What a user or an attacker would meet if this fault were released. */
  readonly why: string;
  /** Test files below `test/`; one of their tests must fail. */
  readonly tests: readonly string[];
}
