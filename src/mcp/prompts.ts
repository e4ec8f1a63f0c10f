import {
  type CompleteResult,
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { readVisibleDatasets } from '../project/answer/visible-datasets.ts';
import type { Project } from '../project/open/open.ts';

interface Prompt {
  readonly description: string;
  readonly arguments: Readonly<Record<string, PromptArgument>>;
  /** The message to the model. Gets every argument; one that was not given is empty. */
  write(given: Readonly<Record<string, string>>): string;
}

interface PromptArgument {
  readonly description: string;
  readonly isOptional?: boolean;
  /** Clients can complete its value from the names of metrics. */
  readonly isMetric?: boolean;
}

const metric = { description: 'A metric, as dataset.metric or by its label.', isMetric: true };

/** The commonest tasks, by name. Clients offer them as commands to their users. */
const prompts: Readonly<Record<string, Prompt>> = {
  answer: {
    description: 'Answer a question about the data, with its evidence.',
    arguments: { question: { description: 'The question, in any language.' } },
    write: ({ question }) =>
      `Answer this question from the data: ${question}\n\n` +
      'Find names with search_context; a saved query that fits answers it at once. Prefer ' +
      'query_metrics to run_sql. If a name can mean two things, ask me which. Give the number, ' +
      'the period and the filters it is for, and say whether it is curated or ad hoc. If the ' +
      'data cannot answer it, say what is missing instead of guessing.',
  },
  explain_metric: {
    description: 'Say how a metric is defined, where that comes from, and who disagrees.',
    arguments: { metric },
    write: ({ metric: name }) =>
      `Explain the metric ${name} with read_context: what it counts, which rows it leaves out, ` +
      'what it can be grouped by, where its definition comes from, and each conflict that is ' +
      'open, with both versions. Quote the evidence. Say whether anybody has reviewed it.',
  },
  compare_periods: {
    description: 'Compare a metric with an earlier period.',
    arguments: {
      metric,
      period: { description: 'What to compare, like "this quarter with the one before".' },
    },
    write: ({ metric: name, period }) =>
      `Compare ${name}: ${period}.\n\nUse query_metrics with a time grain and compare_to, which ` +
      'adds the previous value, the difference and the growth. Say the dates of both periods, ' +
      'and whether the last one is complete.',
  },
  explain_change: {
    description: 'Find what made a metric rise or fall.',
    arguments: {
      metric,
      period: { description: 'When it changed, like "March 2026 against February".' },
    },
    write: ({ metric: name, period }) =>
      `Find out why ${name} changed: ${period}.\n\n1. Confirm the change with query_metrics and ` +
      'compare_to.\n2. read_context of the metric says what it can be grouped by. Compare the ' +
      'two periods by the three or four most telling dimensions, one call for each.\n3. Name ' +
      'the groups that account for most of the difference, with their share of it. What the ' +
      'rows do not show is a guess: say so.',
  },
  review: {
    description: 'Go through what waits for a decision of a person.',
    arguments: {
      subject: { description: 'Only about this dataset or metric.', isOptional: true },
    },
    write: ({ subject }) =>
      `Call review_status and go through what waits${subject === '' ? '' : ` about ${subject}`}, ` +
      'what changes the most numbers first. For each: both versions with their evidence, the ' +
      'number that each gives now (query_metrics or run_sql), and the command that decides it. ' +
      'Decide nothing for me.',
  },
};

/** An argument is a line or two; more would be somebody's text in the place of a name. */
const longestArgument = 2000;

export function listPrompts(): ListPromptsResult {
  return {
    prompts: Object.entries(prompts).map(([name, { description, arguments: args }]) => ({
      name,
      description,
      arguments: Object.entries(args).map(([argument, { description: about, isOptional }]) => ({
        name: argument,
        description: about,
        required: isOptional !== true,
      })),
    })),
  };
}

/** Throws a protocol error if the prompt or a required argument is missing, or one is too long. */
export function getPrompt(
  name: string,
  given: Readonly<Record<string, string>> = {},
): GetPromptResult {
  const prompt = promptNamed(name);
  const values = Object.entries(prompt.arguments).map(([argument, { isOptional }]) => {
    const value = (Object.hasOwn(given, argument) ? given[argument] : undefined)?.trim() ?? '';
    if (value === '' && isOptional !== true) throw badPrompt(`${name} needs ${argument}.`);
    if (value.length > longestArgument)
      throw badPrompt(`${argument} has more than ${longestArgument} characters.`);
    return [argument, value] as const;
  });
  const text = prompt.write(Object.fromEntries(values));
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

/** The metrics whose names contain what has been typed of an argument; at most 100. */
export async function completePrompt(
  project: Project,
  { prompt, argument, value }: Readonly<Record<'prompt' | 'argument' | 'value', string>>,
): Promise<CompleteResult> {
  const args = promptNamed(prompt).arguments;
  if (!Object.hasOwn(args, argument) || args[argument]?.isMetric !== true)
    return { completion: { values: [] } };
  const datasets = await Promise.all(
    project.warehouses.map((connection) => readVisibleDatasets(project, connection)),
  );
  const names = datasets
    .flat()
    .flatMap(({ dataset: { dataset, metrics = [] } }) =>
      metrics.map(({ name }) => `${dataset}.${name}`),
    );
  const found = names.filter((name) => name.toLowerCase().includes(value.toLowerCase())).toSorted();
  const values = found.slice(0, 100);
  return { completion: { values, total: found.length, hasMore: found.length > values.length } };
}

function promptNamed(name: string): Prompt {
  const prompt = Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (prompt !== undefined) return prompt;
  throw badPrompt(`There is no prompt of that name. There are ${Object.keys(prompts).join(', ')}.`);
}

function badPrompt(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
