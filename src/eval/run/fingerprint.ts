import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent } from '../../chat/agent.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { commitState } from '../../project/open/commit-state.ts';
import type { Project } from '../../project/open/open.ts';
import { absent, readAnyText } from '../../store/files.ts';
import type { QuestionSet } from '../cases/question-set.ts';
import type { EvalRun } from './run-file.ts';

/** What the answers lean on, so that a run can be told from another. */
export async function fingerprint(
  project: Project,
  sets: readonly QuestionSet[],
  agents: readonly Agent[],
): Promise<EvalRun['context']> {
  const { dir, config } = project;
  const [{ commit, uncommitted = [] }, layer, wiki] = await Promise.all([
    commitState(dir, ['semantic-layer', 'wiki', 'agents', 'evals']),
    hashOf(dir, 'semantic-layer'),
    hashOf(dir, 'wiki'),
  ]);
  const described = agents.map(({ answer, ...agent }) => ({
    name: agent.name,
    hash: shortHash(canonicalJson({ ...agent, answer: answer?.json })),
    backend: agent.model.backend ?? config.llm.provider.backend,
    model: agent.model.name ?? config.llm.models.default ?? '',
  }));
  const questions = shortHash(canonicalJson(sets));
  return {
    commit,
    uncommitted: [...uncommitted],
    semantic_layer: layer,
    wiki,
    questions,
    agents: described,
  };
}

async function hashOf(dir: string, folder: string): Promise<string> {
  const entries =
    (await readdir(join(dir, folder), { recursive: true, withFileTypes: true }).catch(absent)) ??
    [];
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const texts = await Promise.all(
    paths.map(async (path) => [path.slice(dir.length), await readAnyText(path, dir)]),
  );
  return shortHash(canonicalJson(texts));
}
