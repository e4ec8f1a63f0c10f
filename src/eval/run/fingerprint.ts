import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent } from '../../project/agents/agent.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { readCommitState } from '../../project/open/commit-state.ts';
import type { Project } from '../../project/open/open.ts';
import { undefinedIfMissing, readAnyText } from '../../store/files.ts';
import type { QuestionSet } from '../cases/question-set.ts';
import type { EvalRun } from './run-schema.ts';

/**
 * Commit and content hashes of everything that answers depend on. Runs with equal fingerprints
 * differ only by chance.
 */
export async function fingerprint(
  project: Project,
  sets: readonly QuestionSet[],
  agents: readonly Agent[],
): Promise<EvalRun['context']> {
  const { dir, config } = project;
  const [{ commit, uncommitted = [] }, semanticLayer, wiki] = await Promise.all([
    readCommitState(dir, ['semantic-layer', 'wiki', 'agents', 'evals']),
    hashFolder(dir, 'semantic-layer'),
    hashFolder(dir, 'wiki'),
  ]);
  return {
    commit,
    uncommitted: [...uncommitted],
    semantic_layer: semanticLayer,
    wiki,
    questions: shortHash(canonicalJson(sets)),
    agents: agents.map(({ answer, ...agent }) => ({
      name: agent.name,
      hash: shortHash(canonicalJson({ ...agent, answer: answer?.json })),
      backend: agent.model.backend ?? config.llm.provider.backend,
      model: agent.model.name ?? config.llm.models.default ?? '',
    })),
  };
}

async function hashFolder(projectDir: string, folder: string): Promise<string> {
  const options = { recursive: true, withFileTypes: true } as const;
  const entries =
    (await readdir(join(projectDir, folder), options).catch(undefinedIfMissing)) ?? [];
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const texts = await Promise.all(
    paths.map(async (path) => [path.slice(projectDir.length), await readAnyText(path, projectDir)]),
  );
  return shortHash(canonicalJson(texts));
}
