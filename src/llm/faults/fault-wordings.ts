import type { LlmErrorKind } from '../port/error.ts';

interface FaultWording {
  readonly kind: LlmErrorKind;
  /** Only in responses with one of these statuses. */
  readonly statuses: readonly number[];
  readonly words: RegExp;
}

/**
 * What providers say only in words, under a name or status that also means other things. The first
 * match counts. Only the text of a failed response is read, never what a model wrote.
 */
export const faultWordings: readonly FaultWording[] = [
  {
    kind: 'billing',
    statuses: [400, 401, 402, 403, 429],
    words:
      /credit balance is too low|insufficient (?:funds|credits?|balance|quota)|check your plan and billing|out of credits|billing hard limit|requires billing to be enabled|billing (?:account|for the project)[^.]{0,80}(?:disabled|closed|not active)|reached your specified (?:workspace )?API usage limits|valid credit card on file|extra usage is required/i,
  },
  {
    kind: 'context_too_long',
    statuses: [400, 413, 422, 500],
    words:
      /(?:prompt|input|context) is too long|too many (?:input |total )?tokens|max(?:imum)? context (?:length|window|size)|context (?:length|limit|window|size) (?:of|exceeded)|exceeds? (?:the |its )?(?:available |maximum )?(?:context|number of (?:input )?tokens)|exceed context limit|reduce the length of the (?:messages|prompt|input)|too large for model/i,
  },
  {
    kind: 'region',
    statuses: [400, 403, 404],
    words:
      /not (?:servable|available|supported|offered) in (?:the |this |your )?(?:region|location|country)|country, region, or territory not supported|^Request not allowed\.?$|isn[’']t supported in (?:the |this |your )?(?:region|location)/i,
  },
  {
    kind: 'permission',
    statuses: [400, 401, 404],
    words:
      /organization has been disabled|not (?:yet )?available for this (?:subscription|organization)|use case details have not been submitted|account (?:has been|is) (?:deactivated|disabled|suspended)/i,
  },
  {
    kind: 'model_unavailable',
    statuses: [400, 403, 422],
    words:
      /model identifier is invalid|permission to use (?:the model )?claude-|on-demand throughput isn[’']t supported|(?:no such|unknown|invalid|unsupported) model|model[^.]{0,120} (?:does not exist|not found|is not a valid model)/i,
  },
  {
    kind: 'refusal',
    statuses: [400, 403],
    words: /content (?:management|filtering) policy|blocked by (?:the )?content filter/i,
  },
];

/** The same for failures that have neither a status nor a name that tells. */
export const wordingsWithoutStatus: readonly Omit<FaultWording, 'statuses'>[] = [
  { kind: 'overloaded', words: /\boverloaded\b/i },
];
