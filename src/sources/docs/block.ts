/** A piece of a document as its reader sees it; `line` counts from 1 in the file. */
export type Block =
  | {
      readonly kind: 'heading';
      readonly level: number;
      readonly text: string;
      readonly line: number;
    }
  | {
      readonly kind: 'table';
      readonly header: readonly string[];
      readonly rows: readonly Row[];
      readonly line: number;
    }
  | { readonly kind: 'text'; readonly text: string; readonly line: number };

export interface Row {
  /** Plain text; code keeps its backticks. */
  readonly cells: readonly string[];
  readonly line: number;
}
