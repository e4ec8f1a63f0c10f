import type { TurnResult } from '../../llm/port/session.ts';
import { escapeControls } from '../terminal/text-width.ts';

const mostChoices = 9;

/** What an ambiguous name of the turn may mean: the choices of its last such query. */
export function turnChoices({ toolCalls }: Pick<TurnResult, 'toolCalls'>): readonly string[] {
  return (toolCalls.findLast(({ choices }) => choices !== undefined)?.choices ?? []).slice(
    0,
    mostChoices,
  );
}

/** The choices for a person who can pick none: in a pipe, and after one question. */
export function choiceLines(result: TurnResult): readonly string[] {
  const choices = turnChoices(result).map(escapeControls);
  return choices.length === 0 ? [] : [`A name was ambiguous; it may mean ${choices.join(' or ')}.`];
}

/** The choices to pick from in a chat. */
export function pickLines(choices: readonly string[]): readonly string[] {
  if (choices.length === 0) return [];
  const lines = choices.map((choice, index) => `  /${index + 1}  ${escapeControls(choice)}`);
  return ['A name was ambiguous. To say which one is meant, type its number:', ...lines];
}
