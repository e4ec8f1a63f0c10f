/** Something that people ask about: a mart, what its documentation says, and questions for it. */
export interface Concept {
  /** The mart that answers the questions. */
  readonly table: string;
  readonly description: string;
  /** `name: description`, the description may be empty. */
  readonly columns: readonly string[];
  /** `name: description`. */
  readonly metrics?: readonly string[] | undefined;
  /** What a page of the company's handbook says; `{table}` stands for the name of the mart. */
  readonly page?: string | undefined;
  readonly questions: readonly string[];
}

/** A company as its file says; `questions/` has more of its marts, questions, tables and pages. */
export interface Company {
  readonly name: string;
  readonly concepts: readonly Concept[];
  /** Systems and their objects: each becomes a raw table and a staging model. */
  readonly systems: readonly string[];
  readonly objects: readonly string[];
}
