import { z } from 'zod';
import { durationSchema } from '../../lib/time/duration.ts';

const idSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,99}$/,
    'an id has only lower-case letters, digits, _ and -, and starts with a letter or a digit',
  );
const regexSchema = z.string().min(1).refine(isValidRegex, 'must be a regular expression');

function isValidRegex(text: string): boolean {
  try {
    return new RegExp(text, 'iu').unicode;
  } catch {
    return false;
  }
}

const hasSomeValue = (object: object): boolean =>
  Object.values(object).some((value) => value !== undefined);

/** For numbers with a fraction: a sum of doubles depends on the order of its rows. */
export const defaultTolerance = 1e-9;

const numericMatchSchema = z.strictObject({
  rel: z
    .number()
    .min(0)
    .max(1)
    .default(defaultTolerance)
    .describe('Allowed difference as a share of the larger number.'),
  abs: z.number().min(0).default(defaultTolerance).describe('Allowed difference as a number.'),
});

const presets = ['rounded', 'percent', 'dates', 'flags', 'pivot'] as const;

const matchSchema = z.strictObject({
  columns: z
    .enum(['by_value', 'by_name'])
    .default('by_value')
    .describe(
      '`by_value`: golden columns are found by their values, unless the result has all their ' +
        'names.',
    ),
  extra_columns: z
    .enum(['allow', 'refuse'])
    .default('allow')
    .describe('Whether the result may have more columns than the golden one.'),
  extra_rows: z
    .enum(['refuse', 'after', 'allow'])
    .default('refuse')
    .describe(
      'Whether the result may have more rows: `after` the golden ones, as a top 5 where one ' +
        'was asked, or anywhere.',
    ),
  allow: z
    .array(z.enum(presets))
    .default([])
    .describe(
      'What else counts as equal. `rounded`: a number rounded to two digits or more. ' +
        '`percent`: 12 or 12 % for 0.12. `dates`: 2025-01 or 2025 for their first day. ' +
        '`flags`: 1, yes or true. `pivot`: one column for each value of a golden column, or ' +
        'the other way round.',
    ),
  order: z
    .enum(['ignore', 'keep'])
    .default('ignore')
    .describe('`keep`: the rows must come in the order of the golden SQL.'),
  numeric: numericMatchSchema
    .prefault({})
    .describe(
      'Two numbers match if their difference is within the larger of `rel` and `abs`. Whole ' +
        'numbers must be equal unless one of the two is set wider.',
    ),
});

const resultSchema = z.strictObject({
  golden_sql: z
    .string()
    .min(1)
    .describe('One SELECT that returns the right rows. ktx runs it in every run.'),
  match: matchSchema.prefault({}),
});

const argumentSchema = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.json()),
  z
    .strictObject({
      equals: z.json().optional(),
      contains: z.json().optional().describe('An entry of a list, or a part of a text.'),
      matches: regexSchema.optional(),
      absent: z.literal(true).optional(),
    })
    .refine(
      (value) => Object.keys(value).length === 1,
      'exactly one of equals, contains, matches, absent',
    ),
]);
const argumentsSchema = z
  .record(z.string(), argumentSchema)
  .describe(
    'By the name of the argument, or a path into it such as `where.0`: a value, or {equals}, ' +
      '{contains}, {matches}, {absent: true}.',
  );

const countSchema = z.union([
  z.int().min(0),
  z
    .strictObject({ min: z.int().min(0).optional(), max: z.int().min(0).optional() })
    .refine(hasSomeValue, 'min, max, or both')
    .refine(({ min = 0, max = Infinity }) => min <= max, 'min must not be above max'),
]);

const toolSchema = z.union([
  z.strictObject({
    name: z.string().min(1).describe('The exact name. Only successful calls count.'),
    count: countSchema.optional().describe('How many calls. Default: at least one.'),
    arguments: argumentsSchema.optional(),
  }),
  z.strictObject({
    not: z.string().min(1).describe('A tool that must not be called; a failed call counts too.'),
    arguments: argumentsSchema.optional(),
  }),
  z.strictObject({
    order: z
      .array(z.string().min(1))
      .min(2)
      .describe('Tools that succeed in this order; other calls may come between.'),
  }),
]);

const numberRuleSchema = z.strictObject({
  value: z.number().describe('The number that the answer must state.'),
  rel: z
    .number()
    .min(0)
    .max(1)
    .default(0.005)
    .describe('Allowed difference as a share of the value, because answers round.'),
  abs: z.number().min(0).default(0).describe('Allowed difference as a number.'),
});

const textSchema = z
  .strictObject({
    number: numberRuleSchema.optional().describe('A number that the answer must state.'),
    contains: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Texts that the answer must all contain, in any case.'),
    not_contains: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('Texts that the answer must not contain, in any case.'),
    matches: regexSchema
      .optional()
      .describe('A regular expression that the answer must match, in any case.'),
  })
  .refine(hasSomeValue, 'number, contains, not_contains or matches');

const judgeSchema = z.strictObject({
  criteria: z.string().min(1).describe('What a good answer does. A model scores it from 0 to 1.'),
  threshold: z.number().min(0).max(1).default(0.7).describe('The lowest mean score that passes.'),
  samples: z.int().min(1).max(9).default(1).describe('How many scores to take the mean of.'),
});

const limitsSchema = z
  .strictObject({
    queries: z.int().min(0).optional().describe('Most queries in the turn.'),
    cost_usd: z.number().min(0).optional().describe('Highest cost of the turn in US dollars.'),
    tokens: z.int().min(1).optional().describe('Most tokens of the turn, cached ones included.'),
    latency: durationSchema.optional().describe('Longest duration of the turn, like 90s.'),
  })
  .refine(hasSomeValue, 'queries, cost_usd, tokens or latency');

const expectSchema = z
  .strictObject({
    result: resultSchema.optional().describe('Rows that the agent must have fetched.'),
    semantic_layer: z
      .strictObject({
        metrics: z
          .array(z.string().min(1))
          .min(1)
          .describe('Curated metrics that the answer must be based on.'),
      })
      .optional(),
    tools: z
      .array(toolSchema)
      .min(1)
      .optional()
      .describe('Rules about the tools that the agent calls.'),
    text: textSchema.optional(),
    refuses: z
      .literal(true)
      .optional()
      .describe(
        'The agent must say that it cannot answer, with the tool cannot_answer or in words, ' +
          'and give no number.',
      ),
    grounded: z
      .boolean()
      .optional()
      .describe(
        'Whether the rows must give every number of the answer. Default: true where `result` ' +
          'is expected.',
      ),
    limits: limitsSchema.optional(),
    judge: judgeSchema.optional().describe('Asked last, and only if everything else passed.'),
  })
  .refine(
    hasSomeValue,
    'a case expects something: result, semantic_layer, tools, text, refuses, grounded, ' +
      'limits or judge',
  )
  .refine(
    ({ refuses, result }) => refuses === undefined || result === undefined,
    'refuses and result exclude each other',
  );

/** Questions of one conversation. */
export const mostTurns = 20;

const turnSchema = z.strictObject({
  question: z.string().trim().min(1),
  expect: expectSchema.optional(),
});

const caseSchema = z
  .strictObject({
    id: idSchema.describe('Unique in the file; reports and baselines use it.'),
    question: z.string().trim().min(1).optional().describe('What the agent is asked.'),
    evidence: z
      .string()
      .trim()
      .min(1)
      .optional()
      .describe('What whoever asks would know. The agent gets it after the question.'),
    expect: expectSchema.optional(),
    turns: z
      .array(turnSchema)
      .min(1)
      .max(mostTurns)
      .optional()
      .describe('A conversation, instead of `question` and `expect`.'),
    connection: z
      .string()
      .min(1)
      .optional()
      .describe('Where the golden SQL of this case runs. Default: the connection of the file.'),
    tags: z.array(idSchema).default([]).describe('For `ktx eval run --tag`.'),
    repeat: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe('How often this case is asked. Default: the repeat of the file.'),
    skip: z.string().min(1).optional().describe('Why the case is skipped.'),
    confirmed_by: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .optional()
      .describe('The person who said that what the case expects is right: `ktx eval add --right`.'),
  })
  .refine(
    ({ question, turns }) => (question === undefined) !== (turns === undefined),
    'a case has either a question or turns',
  )
  .refine(
    ({ question, expect }) => question === undefined || expect !== undefined,
    'expect is missing',
  )
  .refine(
    ({ turns, evidence }) => turns === undefined || evidence === undefined,
    'evidence goes with a question; in a case with turns, write it into a turn',
  )
  .refine(
    ({ turns, expect }) => turns === undefined || expect === undefined,
    'in a case with turns, each turn has its own expect',
  )
  .refine(
    ({ turns }) => turns?.some((turn) => turn.expect !== undefined) ?? true,
    'at least one turn expects something',
  );

/** `evals/<name>.yaml`. */
export const questionSetSchema = z
  .strictObject({
    version: z.literal(1).default(1),
    agent: idSchema
      .default('ktx')
      .describe(
        'The agent to ask: agents/<name>.yaml. Without such a file, ktx is the built-in agent.',
      ),
    connection: z
      .string()
      .min(1)
      .optional()
      .describe('Where golden SQL runs. Default: the only warehouse.'),
    repeat: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe('How often each case is asked, each time in a new conversation.'),
    cases: z.array(caseSchema).min(1).describe('The questions.'),
  })
  .describe('A question set for `ktx eval`: questions, and what a right answer to each is.');

export type Expectation = z.infer<typeof expectSchema>;
export type MatchRule = z.infer<typeof matchSchema>;
export type ToolRule = z.infer<typeof toolSchema>;
export type ArgumentRules = z.infer<typeof argumentsSchema>;
export type QuestionSetFile = z.infer<typeof questionSetSchema>;
