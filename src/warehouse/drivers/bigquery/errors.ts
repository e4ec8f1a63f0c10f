import { z } from 'zod';
import { parseJson } from '../../../lib/json.ts';
import type { RestAnswer } from '../../rest/client.ts';
import {
  type ErrorRules,
  translateError,
  warehouseError,
  type WarehouseErrorCode,
} from '../../warehouse-error.ts';

/** An error of the API: `code` is its reason, such as `invalidQuery`. */
export class BigqueryError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(reason: string, message: string, status: number) {
    super(message);
    this.code = reason;
    this.status = status;
  }
}

export const errorProtoSchema = z.looseObject({
  reason: z.string().optional(),
  message: z.string().optional(),
});

const errorBodySchema = z.looseObject({
  error: z.looseObject({
    message: z.string().optional(),
    status: z.string().optional(),
    errors: z.array(errorProtoSchema).optional(),
  }),
});

/** The error in the body of an answer; undefined if the body has none. */
export function errorIn({ status, text }: RestAnswer): BigqueryError | undefined {
  const { error } = errorBodySchema.safeParse(parseJson(text)).data ?? {};
  if (error === undefined) return undefined;
  const reason = error.errors?.[0]?.reason ?? error.status ?? 'error';
  return new BigqueryError(reason, error.message ?? reason, status);
}

const rules: ErrorRules = [
  [/^(?:authError|UNAUTHENTICATED|required):/, 'warehouse_auth', 'Google refused the login'],
  [/^invalidQuery: Syntax error/, 'sql_syntax', 'BigQuery'],
  [/^notFound: .*project/i, 'warehouse_not_found', 'BigQuery'],
  [/^notFound:/, 'missing_object', 'BigQuery'],
  [
    /^invalidQuery: (?:Unrecognized name|Name .* not found|Function not found|Table-valued function not found|Table .* not found|.*Field name .* does not exist)/,
    'missing_object',
    'BigQuery',
  ],
  [
    /^(?:bytesBilledLimitExceeded|billingTierLimitExceeded):/,
    'too_expensive',
    'The query would cost more than it may',
  ],
  [
    /^(?:resourcesExceeded|responseTooLarge):/,
    'out_of_memory',
    'The query needs more than BigQuery gives it',
  ],
  [/^(?:timeout|jobTimeout):|: Job timed out/i, 'query_timeout', 'BigQuery ended the query'],
  [/^stopped:/, 'query_cancelled', 'BigQuery ended the query'],
  [/^(?:rateLimitExceeded|jobRateLimitExceeded):/, 'query_failed', 'BigQuery is busy'],
  [
    /^(?:backendError|internalError|jobBackendError|jobInternalError):/,
    'warehouse_unreachable',
    'BigQuery',
  ],
  [/^/, 'query_failed', 'BigQuery could not run the query'],
];

/** What translated errors need another hint for. */
const advised: readonly (readonly [pattern: RegExp, code: WarehouseErrorCode, hint: string])[] = [
  [
    /without a filter over column/,
    'query_failed',
    'The table is read by its partitions: filter that column, like day >= DATE "2026-01-01".',
  ],
  [
    /^quotaExceeded:/,
    'query_failed',
    'The project has used up a quota: wait, or ask for more in the Google Cloud console.',
  ],
  [
    /^(?:accessDenied|forbidden|PERMISSION_DENIED):/,
    'warehouse_privilege',
    'Give the login the roles BigQuery Data Viewer on the datasets and BigQuery Job User on the project.',
  ],
];

/** For `.catch(…)`: throws what an error of the API means. */
export function throwTranslated(error: unknown): never {
  if (error instanceof BigqueryError) {
    const text = `${error.code}: ${error.message}`;
    const found = advised.find(([pattern]) => pattern.test(text));
    if (found !== undefined)
      throw warehouseError(found[1], `BigQuery: ${error.message}`, { hint: found[2] });
  }
  return translateError(rules)(error);
}

/** Reasons for which the same request may be sent again. */
export function isPassingReason({ code, status }: BigqueryError): boolean {
  const isBusy = code === 'rateLimitExceeded' || code === 'jobRateLimitExceeded';
  return isBusy || (status === 500 && /^(?:backendError|internalError)$/.test(code));
}
