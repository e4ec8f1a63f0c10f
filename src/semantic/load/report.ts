import type { Dataset } from '../model/dataset.ts';
import type { ModelDataset } from '../model/model.ts';

export type YamlPath = readonly PropertyKey[];

/** Reports a finding about the value at `path` of a dataset file. A plain text gets the usual hint of the rule. */
export type ReportFinding = (
  path: YamlPath,
  rule: string,
  finding: string | { readonly message: string; readonly hint?: string | undefined },
) => void;

/** A dataset, the YAML that it was built from, and where to report findings about it. */
export interface DatasetCheck {
  readonly dataset: ModelDataset;
  readonly source: Dataset;
  readonly fail: ReportFinding;
  readonly warn: ReportFinding;
}
