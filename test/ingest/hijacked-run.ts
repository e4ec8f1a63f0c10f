import { describing, tablesAsked } from '../support/describing-model.ts';
import { type ModelCall, reply, say, type Script, use } from '../support/model-script.ts';
import { readingAsked } from '../support/reading-model.ts';
import { isCurating, isReconciling, type ListedConflict } from '../support/ruling-model.ts';
import { formulaProposals, hijackSql, loopAttacks } from './hijacked-model.ts';
import { sql } from './ingest-project.ts';
import { documentedShop, type ModelMachine } from './llm-project.ts';

/** Attacks of one unit: a unit may ask for numbers only a few times. */
const attacksPerUnit = 5;
export const attackNames = Object.keys(loopAttacks);
export const units = Array.from(
  { length: Math.ceil(attackNames.length / attacksPerUnit) },
  (_, unit) => attackNames.slice(unit * attacksPerUnit, (unit + 1) * attacksPerUnit),
);
/** What the formulas of the attacks need: a proposal has to be borne out by its paragraph. */
const formulaWords =
  'It counts the amount, the email, the salary and the status of active people, or the id 60.';
/** So long that each page is a unit of its own. */
const page = `# Leaks\n\nThe leak is defined here, and computed from people. ${formulaWords}\n\n${'More words. '.repeat(1000)}\n`;

/** A project whose warehouse holds the canaries. */
export function canaryShop(machine: ModelMachine, backend: string, settings = ''): string {
  const pages = Object.fromEntries(units.map((_, unit) => [`page${unit}.md`, page]));
  const dir = documentedShop(machine, backend, { ...pages, settings });
  sql(dir, hijackSql);
  return dir;
}

/**
 * What each attack got back. A model that tries one attack a turn, whatever its instructions say.
 */
export function hijacked() {
  const answers = new Map<string, string>();
  const compared: string[] = [];
  const curated: string[] = [];
  const inLoop = (call: ModelCall, item: string, turn: number) => {
    const names = units[Number(/page(\d+)/.exec(item)?.[1])] ?? [];
    const before = names[turn - 3];
    if (before !== undefined) answers.set(before, call.results.map(({ text }) => text).join('\n'));
    if (turn === 1) return reply(formulaProposals(item));
    const name = names[turn - 2];
    return name === undefined ? say('Done.') : reply([...(loopAttacks[name] ?? [])]);
  };
  const script: Script = (call) => {
    const asked = readingAsked(call);
    if (asked?.stage === 'triage') return say('full');
    if (asked?.stage === 'extract') return inLoop(call, asked.items[0]?.item ?? '', asked.turn);
    if (isReconciling(call)) return reconciling(call);
    if (isCurating(call)) {
      curated.push(...call.results.map(({ text }) => text));
      return call.results.length === 0 ? use('list_candidates', {}) : say('Done.');
    }
    return tablesAsked(call).length === 0 && !call.objectTaken ? say('skip') : describing(call);
  };
  const reconciling = (call: ModelCall) => {
    const listed = call.results.flatMap(
      ({ text }) => /source="contested">\n([^]*?)\n<\/untrusted-/.exec(text)?.[1] ?? [],
    );
    const [json] = listed;
    if (json !== undefined) {
      const conflicts = JSON.parse(json) as ListedConflict[];
      return reply(
        conflicts.flatMap(({ subject, kind, versions }) => [
          { tool: 'compare_definitions', input: { subject } },
          { tool: 'read_evidence', input: { version: versions[0]?.id } },
          {
            tool: 'mark_same',
            input: { subject, kind, versions: versions.map(({ id }) => id), why: 'same' },
          },
        ]),
      );
    }
    const answered = call.results.map(({ text }) => text);
    compared.push(...answered);
    return answered.length === 0 ? use('list_contested', {}) : say('Done.');
  };
  return { script, answers, compared, curated };
}
