import { setTimeout as sleep } from 'node:timers/promises';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { audio, form, image, text } from './fixture-results.ts';
import { enums, everyDefault } from './fixture-forms.ts';

type Answer = CallToolResult | InputRequiredResult;
type FixtureTool = (context: ServerContext, input: unknown) => Promise<Answer> | Answer;

/** Seals what the fixture has a client keep between two rounds. */
type MintState = (state: string) => Promise<string>;

const message = z.object({ message: z.string() });
const prompt = z.object({ prompt: z.string() });
const declared = z.looseObject({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({
    elicitation: z.unknown().optional(),
    sampling: z.unknown().optional(),
  }),
});
const named = z.object({ content: z.object({ name: z.string() }) });

const askName = inputRequired.elicit({
  message: 'What is your name?',
  requestedSchema: form('name'),
});
const askModel = (words: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: words } }],
    maxTokens,
  });
const askOk = inputRequired.elicit({
  message: 'Please confirm',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
});
const json = (value: unknown): string => JSON.stringify(value);
const responses = ({ mcpReq }: ServerContext): Record<string, unknown> =>
  mcpReq.inputResponses ?? {};

/** Asks a question, and answers with what the client said to it. */
function asking(
  key: string,
  request: ReturnType<typeof inputRequired.elicit>,
  say: (response: unknown) => string,
): FixtureTool {
  return (context) => {
    const response = responses(context)[key];
    if (response === undefined) return inputRequired({ inputRequests: { [key]: request } });
    return text(say(response));
  };
}

/** Asks the same, with a state that the client has to give back. */
const askingWithState =
  (mint: MintState): FixtureTool =>
  async ({ mcpReq }) => {
    const isBack = mcpReq.requestState() === 'asked' && mcpReq.inputResponses?.['confirm'];
    if (isBack) return text('state-ok');
    const requestState = await mint('asked');
    return inputRequired({ inputRequests: { confirm: askOk }, requestState });
  };

const elicited = (response: unknown): string => {
  const { action, content } = z
    .object({ action: z.string(), content: z.unknown() })
    .parse(response);
  return `action=${action}, content=${json(content ?? {})}`;
};

const plainTools: Readonly<Record<string, FixtureTool>> = {
  greet: (_context, input) => text(`Hello, ${z.object({ name: z.string() }).parse(input).name}!`),
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [{ type: 'image', data: image, mimeType: 'image/png' }] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: audio, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: image, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: json({ test: 'data', value: 123 }),
        },
      },
    ],
  }),
  test_error_handling: () => ({
    ...text('This tool intentionally returns an error for testing'),
    isError: true,
  }),
  test_tool_with_logging: async ({ mcpReq }) => {
    for (const step of ['execution started', 'processing data', 'execution completed']) {
      await mcpReq.log('info', `Tool ${step}`);
      await sleep(50);
    }
    return text('The tool has logged.');
  },
  test_logging_tool: async ({ mcpReq }) => {
    await mcpReq.log('info', 'Only for clients that asked for it.');
    return text('The tool has logged.');
  },
  test_tool_with_progress: async ({ mcpReq: { _meta: meta, notify } }) => {
    const progressToken = meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 };
      if (progressToken !== undefined) await notify({ method: 'notifications/progress', params });
      await sleep(50);
    }
    return text('The tool has made progress.');
  },
  test_sampling: (context, input) =>
    asking('sampled', askModel(prompt.parse(input).prompt, 100), (response) => {
      return `LLM response: ${json(response)}`;
    })(context, input),
  test_elicitation: (context, input) =>
    asking(
      'user',
      inputRequired.elicit({
        message: message.parse(input).message,
        requestedSchema: {
          type: 'object',
          properties: {
            username: { type: 'string', description: "User's response" },
            email: { type: 'string', description: "User's email address" },
          },
          required: ['username', 'email'],
        },
      }),
      (response) => `User response: ${elicited(response)}`,
    )(context, input),
  test_elicitation_sep1034_defaults: asking(
    'defaults',
    inputRequired.elicit({ message: 'Anything to change?', requestedSchema: everyDefault }),
    (response) => `Elicitation completed: ${elicited(response)}`,
  ),
  test_elicitation_sep1330_enums: asking(
    'enums',
    inputRequired.elicit({ message: 'Which of these?', requestedSchema: enums }),
    (response) => `Elicitation completed: ${elicited(response)}`,
  ),
  test_missing_capability: asking('sampled', askModel('Hello?', 10), json),
  test_streaming_elicitation: asking('user_name', askName, json),
  test_input_required_result_elicitation: (context) => {
    const { data } = named.safeParse(responses(context)['user_name']);
    if (data === undefined) return inputRequired({ inputRequests: { user_name: askName } });
    return text(`Hello, ${data.content.name}!`);
  },
  test_input_required_result_sampling: asking(
    'capital_question',
    askModel('What is the capital of France?', 100),
    json,
  ),
  test_input_required_result_list_roots: asking('client_roots', inputRequired.listRoots(), json),
  test_input_required_result_capabilities: ({ mcpReq: { envelope } }) => {
    const can = declared.parse(envelope)[CLIENT_CAPABILITIES_META_KEY];
    const inputRequests = {
      ...(can.elicitation === undefined ? {} : { user_name: askName }),
      ...(can.sampling === undefined ? {} : { greeting: askModel('Generate a greeting', 50) }),
    };
    return inputRequired({ inputRequests });
  },
};

/** The tools that the official suite calls, by name. */
export const fixtureTools = (mint: MintState): Readonly<Record<string, FixtureTool>> => ({
  ...plainTools,
  test_input_required_result_request_state: askingWithState(mint),
  test_input_required_result_tampered_state: askingWithState(mint),
  test_input_required_result_multiple_inputs: async (context) => {
    const inputRequests = {
      user_name: askName,
      greeting: askModel('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    };
    const given = responses(context);
    if (Object.keys(inputRequests).every((key) => key in given)) return text(json(given));
    return inputRequired({ inputRequests, requestState: await mint('asked') });
  },
  test_input_required_result_multi_round: async (context) => {
    const given = responses(context);
    if ('step2' in given && context.mcpReq.requestState() === 'step 1 done')
      return text(json(given['step2']));
    if (!('step1' in given)) {
      const step1 = inputRequired.elicit({
        message: 'Step 1: What is your name?',
        requestedSchema: form('name'),
      });
      return inputRequired({ inputRequests: { step1 }, requestState: await mint('begun') });
    }
    const step2 = inputRequired.elicit({
      message: 'Step 2: What is your favorite color?',
      requestedSchema: form('color'),
    });
    const requestState = await mint('step 1 done');
    return inputRequired({ inputRequests: { step2 }, requestState });
  },
});
