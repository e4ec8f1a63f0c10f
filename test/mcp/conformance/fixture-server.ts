import {
  type GetPromptResult,
  inputRequired,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { answerCall, describeAsked } from '../../../src/mcp/answer-call.ts';
import { createServer } from '../../../src/mcp/server.ts';
import { form, image } from './fixture-results.ts';
import { callTaskTool, taskToolNames } from './fixture-tasks.ts';
import { fixtureTools } from './fixture-tools.ts';

/**
 * The server with which `ktx mcp serve --http` runs, and what the official suite asks for in place
 * of the data. Calls pass what calls of ktx pass: the queue, the limits and the audit.
 */
export const createFixture: typeof createServer = (caller, stop) => {
  const mcp = createServer(caller, stop);
  const { server } = mcp;
  const tools = fixtureTools((state) => caller.states.mint(state));
  server.registerCapabilities({ logging: {}, resources: { subscribe: true } });
  server.setRequestHandler('tools/list', () => ({
    tools: [...Object.keys(tools), ...taskToolNames].map((name) => ({
      name,
      description: `${name} of the suite.`,
      inputSchema: { type: 'object' },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: input } = params;
    const long = await callTaskTool(caller, { name, input }, context);
    if (long !== undefined) return long;
    const fixture = tools[name];
    if (fixture === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}.`);
    const asked = describeAsked(server, context, { tool: name, input });
    const run = async () => {
      const result = await fixture(context, input);
      return { result, answered: { bytes: JSON.stringify(result).length, outcome: 'ok' } };
    };
    return await caller.calls.add(() =>
      answerCall(caller, { tool: { name, effect: 'context' }, asked, run }),
    );
  });
  addResources(mcp);
  addPrompts(mcp);
  return mcp;
};

const staticText = {
  uri: 'test://static-text',
  mimeType: 'text/plain',
  text: 'This is the content of the static text resource.',
};
const staticBinary = { uri: 'test://static-binary', mimeType: 'image/png', blob: image };

function addResources({ server }: McpServer): void {
  server.setRequestHandler('resources/list', () => ({
    resources: [staticText, staticBinary].map(({ uri, mimeType }) => ({
      uri,
      mimeType,
      name: uri,
      description: `${uri} of the suite.`,
    })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const fixed = [staticText, staticBinary].find((resource) => resource.uri === uri);
    if (fixed !== undefined) return { contents: [fixed] };
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id === undefined) throw new ResourceNotFoundError(uri);
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(data) }] };
  });
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const)
    server.setRequestHandler(method, () => ({}));
}

type Messages = GetPromptResult['messages'];
const say = (text: string): Messages[number] => ({ role: 'user', content: { type: 'text', text } });
const required = (...names: string[]) => names.map((name) => ({ name, required: true }));

interface FixturePrompt {
  readonly arguments?: { readonly name: string; readonly required: boolean }[];
  readonly messages: (given: Readonly<Record<string, string>>) => Messages;
}

const prompts: Readonly<Record<string, FixturePrompt>> = {
  test_simple_prompt: { messages: () => [say('This is a simple prompt for testing.')] },
  test_prompt_with_arguments: {
    arguments: required('arg1', 'arg2'),
    messages: ({ arg1, arg2 }) => [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  test_prompt_with_embedded_resource: {
    arguments: required('resourceUri'),
    messages: ({ resourceUri: uri = '' }) => {
      const text = 'Embedded resource content for testing.';
      const resource = { uri, mimeType: 'text/plain', text };
      return [
        { role: 'user', content: { type: 'resource', resource } },
        say('Please process the embedded resource above.'),
      ];
    },
  },
  test_prompt_with_image: {
    messages: () => [
      { role: 'user', content: { type: 'image', data: image, mimeType: 'image/png' } },
      say('Please analyze the image above.'),
    ],
  },
};
const asking = 'test_input_required_result_prompt';
const contextGiven = z.object({ content: z.object({ context: z.string() }) });

function addPrompts({ server }: McpServer): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: [...Object.entries(prompts), [asking, {}] as const].map(([name, given]) => ({
      name,
      description: `${name} of the suite.`,
      arguments: 'arguments' in given ? given.arguments : [],
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq }) => {
    if (params.name !== asking) {
      const prompt = prompts[params.name];
      if (prompt === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No prompt ${params.name}.`);
      return { messages: prompt.messages(params.arguments ?? {}) };
    }
    const { data } = contextGiven.safeParse(mcpReq.inputResponses?.['user_context']);
    if (data !== undefined) return { messages: [say(`Use ${data.content.context}.`)] };
    const user_context = inputRequired.elicit({
      message: 'What context should the prompt use?',
      requestedSchema: form('context'),
    });
    return inputRequired({ inputRequests: { user_context } });
  });
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false },
  }));
}
