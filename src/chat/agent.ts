import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseYaml } from '../lib/parse-yaml.ts';
import { errorMessage, UserError } from '../lib/error.ts';
import { didYouMean } from '../lib/suggest.ts';
import type { AnswerFormat } from '../llm/port/session.ts';
import { absent, readText } from '../store/files.ts';
import { agentSchema, type AgentFile } from './agent-schema.ts';

/** An agent whose files are read and checked. */
export interface Agent extends Omit<AgentFile, 'instructions' | 'response_format'> {
  readonly instructions: string | undefined;
  readonly answer: AnswerFormat | undefined;
}

const folder = 'agents';
const builtIn = 'ktx';

/** The agent of `agents/<name>.yaml`; without a name the one that is built in, which needs no file. */
export async function loadAgent(projectDir: string, name: string = builtIn): Promise<Agent> {
  const file = `${folder}/${name}.yaml`;
  const isName = /^[a-z][a-z0-9_-]*$/.test(name);
  const text = isName ? await readText(join(projectDir, file), projectDir) : undefined;
  if (text === undefined && name === builtIn)
    return { ...agentSchema.parse({ name }), instructions: undefined, answer: undefined };
  if (text === undefined) throw await unknownAgent(projectDir, name);
  const hint = 'ktx schema agent prints what an agent may have.';
  const agent = await parseYaml(agentSchema, { file, text, code: 'agent_invalid', hint });
  if (agent.name !== name)
    throw invalid(
      `${file}: the agent is named ${agent.name}.`,
      `name: ${name}, or rename the file`,
    );
  const place = { projectDir, file };
  const { instructions, response_format: format } = agent;
  return {
    ...agent,
    instructions:
      typeof instructions === 'object' ? await beside(place, instructions.file) : instructions,
    answer:
      format === undefined
        ? undefined
        : answerFormat('file' in format ? await schemaIn(place, format.file) : format.schema, file),
  };
}

/** The names of all agent files, sorted. */
async function agentNames(projectDir: string): Promise<readonly string[]> {
  const names = (await readdir(join(projectDir, folder)).catch(absent)) ?? [];
  return names
    .flatMap((name) => (name.endsWith('.yaml') ? [name.slice(0, -'.yaml'.length)] : []))
    .sort();
}

interface Place {
  readonly projectDir: string;
  readonly file: string;
}

/** A file that an agent's file names, relative to it. */
async function beside({ projectDir, file }: Place, path: string): Promise<string> {
  const text = await readText(join(projectDir, dirname(file), path), projectDir);
  if (text !== undefined) return text;
  throw invalid(
    `${file} names ${path}, and there is no such file.`,
    `a path relative to ${dirname(file)}/`,
  );
}

async function schemaIn(place: Place, path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await beside(place, path);
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    throw invalid(`${place.file}: ${path} is no JSON Schema.`, 'a JSON file with an object schema');
  }
}

/** Compiled once, so that a schema that cannot be checked is found before anything is asked. */
function answerFormat(json: Readonly<Record<string, unknown>>, file: string): AnswerFormat {
  try {
    const schema = z.fromJSONSchema(json);
    if (schema instanceof z.ZodObject) return { json, schema };
  } catch (error) {
    throw invalid(
      `${file}: response_format cannot be checked: ${errorMessage(error)}.`,
      'a JSON Schema without conditions',
    );
  }
  throw invalid(
    `${file}: response_format must be a schema of type object.`,
    'put a list or a text into a property',
  );
}

async function unknownAgent(projectDir: string, name: string): Promise<UserError> {
  const names = await agentNames(projectDir);
  const hint =
    didYouMean(name, names) ??
    (names.length === 0
      ? `write ${folder}/${name}.yaml; ktx schema agent prints what it may have`
      : `one of ${names.join(', ')}`);
  return new UserError('agent_unknown', `There is no agent ${name} in ${folder}/.`, {
    hint,
    exitCode: 2,
  });
}

function invalid(message: string, hint: string): UserError {
  return new UserError('agent_invalid', message, { hint, exitCode: 2 });
}
