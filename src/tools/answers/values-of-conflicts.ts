import { parseSubject } from '../../context/claims/subject.ts';
import type { SentValues } from '../../llm/egress/sent-values.ts';
import type { ReviewedConflict } from '../../project/review/review.ts';

/** The numbers of contested metrics, by the metric. */
export function valuesOfConflicts(conflicts: readonly ReviewedConflict[]): readonly SentValues[] {
  return conflicts.flatMap(({ subject, variants }): SentValues[] => {
    const count = variants.reduce(
      (sum, { number }) =>
        sum + (number?.value === undefined ? 0 : 1) + (number?.over?.length ?? 0),
      0,
    );
    const { connection = '', dataset = '', name = '' } = parseSubject(subject) ?? {};
    return count === 0
      ? []
      : [{ connection, source: dataset, column: name, kind: 'metric', count }];
  });
}
