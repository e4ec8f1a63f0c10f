/** A document as code reads it. */
export interface ParsedDocument {
  readonly blocks: readonly DocumentBlock[];
  /** Parts that could not be read; everything else is in `blocks`. */
  readonly problems: readonly { readonly line: number; readonly reason: string }[];
}

/** A heading, a table or a run of text, in reading order. `line` counts from 1 in the file. */
export type DocumentBlock = HeadingBlock | TableBlock | TextBlock;

interface HeadingBlock {
  readonly kind: 'heading';
  /** From 1 to 6. */
  readonly level: number;
  readonly text: string;
  readonly line: number;
}

export interface TableBlock {
  readonly kind: 'table';
  readonly header: readonly string[];
  readonly rows: readonly TableRow[];
  readonly line: number;
}

interface TextBlock {
  readonly kind: 'text';
  readonly text: string;
  readonly line: number;
}

export interface TableRow {
  /** Plain text; code keeps its backticks. */
  readonly cells: readonly string[];
  readonly line: number;
}
