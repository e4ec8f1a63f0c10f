import { realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { z } from 'zod';
import { errorMessage, UserError } from '../../lib/error.ts';
import { parseYaml } from '../../lib/yaml/parse-yaml.ts';
import { didYouMean } from '../../lib/suggest.ts';
import type { AnswerFormat } from '../../llm/port/session.ts';
import { listConfinedFolder } from '../../store/confined-file.ts';
import { readText } from '../../store/files.ts';
import { agentSchema, type AgentFile } from './agent-schema.ts';

/** An agent whose files were read and validated. */
export interface Agent extends Omit<AgentFile, 'instructions' | 'response_format'> {
  readonly instructions: string | undefined;
  readonly answer: AnswerFormat | undefined;
}

const agentsFolder = 'agents';
const builtInAgent = 'ktx';

/** Loads `agents/<name>.yaml`. The built-in agent, which is the default, needs no file. */
export async function loadAgent(projectDir: string, name: string = builtInAgent): Promise<Agent> {
  const file = `${agentsFolder}/${name}.yaml`;
  const isValidName = /^[a-z][a-z0-9_-]*$/.test(name);
  const text = isValidName ? await readText(join(projectDir, file), projectDir) : undefined;
  if (text === undefined && name === builtInAgent)
    return { ...agentSchema.parse({ name }), instructions: undefined, answer: undefined };
  if (text === undefined) throw await unknownAgentError(projectDir, name);
  const hint = 'To print the keys of an agent, run: ktx schema agent';
  const agent = await parseYaml(agentSchema, { file, text, code: 'agent_invalid', hint });
  if (agent.name !== name)
    throw invalidAgentError(
      `${file}: the agent is named ${agent.name}.`,
      `name: ${name}, or rename the file`,
    );
  const agentFile = { projectDir, file };
  const { instructions, response_format: format } = agent;
  return {
    ...agent,
    instructions:
      typeof instructions === 'object'
        ? await readReferencedFile(agentFile, instructions.file)
        : instructions,
    answer: format && (await readAnswerFormat(agentFile, format)),
  };
}

interface AgentFileLocation {
  readonly projectDir: string;
  /** Path of the agent's file, relative to the project. */
  readonly file: string;
}

/**
 * Reads a file that the agent's file refers to. `path` is relative to the agent's file. The text
 * goes to a model: no file of secrets, of git or of `.ktx` does.
 */
async function readReferencedFile(
  { projectDir, file }: AgentFileLocation,
  path: string,
): Promise<string> {
  const fullPath = join(projectDir, dirname(file), path);
  const text = await readText(fullPath, projectDir);
  if (text === undefined)
    throw invalidAgentError(
      `${file} refers to ${path}, and there is no such file.`,
      `a path relative to ${dirname(file)}/`,
    );
  const inProject = relative(await realpath(projectDir), await realpath(fullPath));
  const hidden = inProject.split(sep).find((step) => step.startsWith('.'));
  if (hidden === undefined) return text;
  throw invalidAgentError(
    `${file} refers to ${path}, and ktx sends nothing of ${hidden} to a model.`,
    'a file whose path has no name that begins with a dot',
  );
}

/** Compiles the schema now, so that an unusable one is found before a model is asked. */
async function readAnswerFormat(
  location: AgentFileLocation,
  format: NonNullable<AgentFile['response_format']>,
): Promise<AnswerFormat> {
  const json = 'file' in format ? await readJsonSchema(location, format.file) : format.schema;
  const { file } = location;
  try {
    const schema = z.fromJSONSchema(json);
    if (schema instanceof z.ZodObject) return { json, schema };
  } catch (error) {
    throw invalidAgentError(
      `${file}: ktx cannot validate with response_format: ${errorMessage(error)}.`,
      'a JSON Schema without conditions',
    );
  }
  throw invalidAgentError(
    `${file}: response_format must be a schema of type object.`,
    'put a list or a text into a property',
  );
}

async function readJsonSchema(
  location: AgentFileLocation,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await readReferencedFile(location, path);
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    throw invalidAgentError(
      `${location.file}: ${path} is not a JSON Schema.`,
      'a JSON file with an object schema',
    );
  }
}

async function unknownAgentError(projectDir: string, name: string): Promise<UserError> {
  const names = await agentNames(projectDir);
  const choices =
    names.length === 0
      ? `write ${agentsFolder}/${name}.yaml; ktx schema agent prints its keys`
      : `one of ${names.join(', ')}`;
  const message = `There is no agent ${name} in ${agentsFolder}/.`;
  return new UserError('agent_unknown', message, {
    hint: didYouMean(name, names) ?? choices,
    exitCode: 2,
  });
}

/** The names of all agent files, sorted. */
export async function agentNames(projectDir: string): Promise<readonly string[]> {
  const entries = await listConfinedFolder(join(projectDir, agentsFolder), projectDir);
  return (entries ?? [])
    .map(({ name }) => name)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();
}

function invalidAgentError(message: string, hint: string): UserError {
  return new UserError('agent_invalid', message, { hint, exitCode: 2 });
}
