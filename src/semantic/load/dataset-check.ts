import type { Dataset } from '../model/dataset.ts';
import type { ModelDataset } from '../model/model.ts';

/**
 * The keys and list positions that lead to a value in a dataset file, like `['fields', 2, 'expr']`.
 */
export type YamlPath = readonly PropertyKey[];

/**
 * Reports a finding about the value at `path` of a dataset file. `finding` is a message with a
 * hint, or only the message: then the hint is the usual one of the rule.
 */
export type ReportFinding = (
  path: YamlPath,
  rule: string,
  finding: string | { readonly message: string; readonly hint?: string | undefined },
) => void;

/**
 * What the checks of one dataset need: the dataset, its file, and where to report errors and
 * warnings.
 */
export interface DatasetCheck {
  readonly dataset: ModelDataset;
  /** The parsed file that `dataset` was built from. */
  readonly yaml: Dataset;
  /** Reports an error. */
  readonly fail: ReportFinding;
  /** Reports a warning. */
  readonly warn: ReportFinding;
}
