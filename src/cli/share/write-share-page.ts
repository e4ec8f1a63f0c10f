import type { OpenAgent } from '../../chat/open-agent.ts';
import { aboutText, type ShownExchange } from '../chat/shown-exchanges.ts';
import { type NewFileOptions, writeNewFile } from '../export/new-file.ts';
import { renderSharePage } from './share-page.ts';

export interface ShareTarget extends NewFileOptions {
  readonly path: string;
  readonly about: OpenAgent['about'];
}

/** Writes answers as one HTML file. Returns the line that says so. */
export async function writeSharePage(
  exchanges: readonly ShownExchange[],
  { path, about, ...options }: ShareTarget,
): Promise<string> {
  const page = renderSharePage(exchanges, { about: aboutText(about), at: new Date() });
  return `wrote ${await writeNewFile(path, page, options)}`;
}
