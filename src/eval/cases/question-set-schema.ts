import { z } from 'zod';

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,99}$/, 'an id is lower case: letters, digits, _ and -');
const duration = z
  .string()
  .regex(/^\d{1,6}(?:\.\d+)?\s*(?:ms|s|m|h)$/, 'a duration is a number and a unit: 90s, 2m, 1h');
const pattern = z.string().min(1).refine(isPattern, 'must be a regular expression');
const atLeastOne = (value: object): boolean =>
  Object.values(value).some((each) => each !== undefined);

/** Of numbers with a fraction; a sum of doubles depends on the order of its rows. */
export const defaultTolerance = 1e-9;

const matchSchema = z.strictObject({
  columns: z
    .enum(['by_value', 'by_name'])
    .default('by_value')
    .describe(
      '`by_value`: each golden column is looked for by what it holds, whatever it is called. More columns than the golden ones do no harm.',
    ),
  order: z
    .enum(['ignore', 'keep'])
    .default('ignore')
    .describe('`keep`: the rows come in the order of the golden SQL.'),
  numeric: z
    .strictObject({
      rel: z
        .number()
        .min(0)
        .max(1)
        .default(defaultTolerance)
        .describe('Part of the larger number.'),
      abs: z.number().min(0).default(defaultTolerance),
    })
    .prefault({})
    .describe(
      'Two numbers are the same within the larger of both; whole ones are exact unless one of both is given wider.',
    ),
});

const resultSchema = z.strictObject({
  golden_sql: z
    .string()
    .min(1)
    .describe('One SELECT whose rows are right. ktx runs it at every run.'),
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
      matches: pattern.optional(),
      absent: z.literal(true).optional(),
    })
    .refine((value) => Object.keys(value).length === 1, 'one of equals, contains, matches, absent'),
]);
const argumentsSchema = z
  .record(z.string(), argumentSchema)
  .describe(
    'By the name of the argument, `where.0` for what is inside: a value, or {equals}, {contains}, {matches}, {absent: true}.',
  );

const countSchema = z.union([
  z.int().min(0),
  z
    .strictObject({ min: z.int().min(0).optional(), max: z.int().min(0).optional() })
    .refine(atLeastOne, 'min, max, or both')
    .refine(({ min = 0, max = Infinity }) => min <= max, 'min is at most max'),
]);

const toolSchema = z.union([
  z.strictObject({
    name: z.string().min(1).describe('Exact. Calls that succeeded count.'),
    count: countSchema.optional().describe('How many; without it at least one.'),
    arguments: argumentsSchema.optional(),
  }),
  z.strictObject({
    not: z.string().min(1).describe('Not even tried.'),
    arguments: argumentsSchema.optional(),
  }),
  z.strictObject({
    order: z
      .array(z.string().min(1))
      .min(2)
      .describe('These succeed in this order; others may come between.'),
  }),
]);

const numberSchema = z.strictObject({
  value: z.number(),
  rel: z.number().min(0).max(1).default(0.005).describe('Answers round.'),
  abs: z.number().min(0).default(0),
});

const textSchema = z
  .strictObject({
    number: numberSchema.optional().describe('Some number of the answer is this one.'),
    contains: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('All of them, whatever their case.'),
    not_contains: z.array(z.string().min(1)).min(1).optional(),
    matches: pattern.optional(),
  })
  .refine(atLeastOne, 'number, contains, not_contains or matches');

const judgeSchema = z.strictObject({
  criteria: z.string().min(1).describe('What a good answer does. A model scores it from 0 to 1.'),
  threshold: z.number().min(0).max(1).default(0.7).describe('Of the mean.'),
  samples: z.int().min(1).max(9).default(1),
});

const expectSchema = z
  .strictObject({
    result: resultSchema.optional().describe('Rows that the agent has to have fetched.'),
    semantic_layer: z
      .strictObject({
        metrics: z
          .array(z.string().min(1))
          .min(1)
          .describe('Curated metrics that stand behind the answer.'),
      })
      .optional(),
    tools: z.array(toolSchema).min(1).optional(),
    text: textSchema.optional(),
    refuses: z
      .literal(true)
      .optional()
      .describe('The agent says that it cannot answer, and cites no query.'),
    limits: z
      .strictObject({
        queries: z.int().min(0).optional(),
        cost_usd: z.number().min(0).optional(),
        tokens: z.int().min(1).optional(),
        latency: duration.optional(),
      })
      .refine(atLeastOne, 'queries, cost_usd, tokens or latency')
      .optional(),
    judge: judgeSchema.optional().describe('Asked last, and only where everything else passed.'),
  })
  .refine(
    atLeastOne,
    'a case expects something: result, semantic_layer, tools, text, refuses, limits or judge',
  )
  .refine(
    ({ refuses, result }) => refuses === undefined || result === undefined,
    'refuses and result exclude each other',
  );

const turnSchema = z.strictObject({
  question: z.string().trim().min(1),
  expect: expectSchema.optional(),
});

const caseSchema = z
  .strictObject({
    id: name,
    question: z.string().trim().min(1).optional(),
    expect: expectSchema.optional(),
    turns: z
      .array(turnSchema)
      .min(1)
      .max(20)
      .optional()
      .describe('One conversation, in place of `question` and `expect`.'),
    connection: z.string().min(1).optional().describe('In place of that of the file.'),
    tags: z.array(name).default([]),
    repeat: z.int().min(1).max(100).optional().describe('In place of that of the file.'),
    skip: z.string().min(1).optional().describe('Why it is not asked.'),
  })
  .refine(
    ({ question, turns }) => (question === undefined) !== (turns === undefined),
    'a case has a question, or turns',
  )
  .refine(
    ({ question, expect }) => question === undefined || expect !== undefined,
    'expect is missing',
  )
  .refine(
    ({ turns, expect }) => turns === undefined || expect === undefined,
    'with turns, each turn has its own expect',
  )
  .refine(
    ({ turns }) => turns?.some((turn) => turn.expect !== undefined) ?? true,
    'at least one turn expects something',
  );

/** `evals/<name>.yaml`. */
export const questionSetSchema = z
  .strictObject({
    version: z.literal(1).default(1),
    agent: name
      .default('ktx')
      .describe('agents/<name>.yaml; without a file of that name, ktx is the built-in agent.'),
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
      .describe('How often each case is asked, in a conversation of its own.'),
    cases: z.array(caseSchema).min(1),
  })
  .describe('A set of questions for `ktx eval`, each with what a right answer is.');

export type Expectation = z.infer<typeof expectSchema>;
export type MatchRule = z.infer<typeof matchSchema>;
export type ToolRule = z.infer<typeof toolSchema>;
export type ArgumentRules = z.infer<typeof argumentsSchema>;
export type QuestionSetFile = z.infer<typeof questionSetSchema>;

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'iu').unicode;
  } catch {
    return false;
  }
}
