import type { LlmErrorKind } from '../port/error.ts';
import { kindByStatus, namesWithoutStatus, preciseNames } from './fault-names.ts';
import { faultWordings, wordingsWithoutStatus } from './fault-wordings.ts';

/** What a provider said about a failed request. */
export interface ReportedFault {
  /** HTTP status; undefined if there was no response, or if the failure came inside of a stream. */
  readonly status: number | undefined;
  /** The provider's names of the failure, the most precise first. */
  readonly names: readonly unknown[];
  /** The text of the response. */
  readonly text: string;
  /** Size of the request. */
  readonly requestBytes?: number | undefined;
}

/** The rest of a longer text is not read: it may quote the request. */
const longestWording = 2000;

/**
 * Bytes. Anthropic answers a prompt that is too long with `invalid_request_error`, as it does every
 * other bad request. If the words are new, only the size tells them apart: 200,000 tokens rarely
 * take less than this, and other bad requests are rarely as large.
 */
const longRequestBytes = 400_000;

/** The kind of a failed request, the same for every backend; undefined if nothing tells. */
export function classifyFault(fault: ReportedFault): LlmErrorKind | undefined {
  const { status, names, text, requestBytes = 0 } = fault;
  const precise = kindOfNames(preciseNames, names);
  if (precise !== undefined) return precise;
  const head = text.slice(0, longestWording);
  if (status === undefined || status < 400)
    return (
      kindOfNames(namesWithoutStatus, names) ??
      wordingsWithoutStatus.find(({ words }) => words.test(head))?.kind
    );
  const wording = faultWordings.find(
    ({ statuses, words }) => statuses.includes(status) && words.test(head),
  );
  if (wording !== undefined) return wording.kind;
  if (status === 400 && requestBytes >= longRequestBytes) return 'context_too_long';
  return status >= 500 ? 'overloaded' : (kindByStatus[status] ?? 'execution');
}

function kindOfNames(
  kinds: Readonly<Record<string, LlmErrorKind>>,
  names: readonly unknown[],
): LlmErrorKind | undefined {
  return names
    .map((name) =>
      typeof name === 'string' && Object.hasOwn(kinds, name) ? kinds[name] : undefined,
    )
    .find((kind) => kind !== undefined);
}
