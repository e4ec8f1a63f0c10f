import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ensureStateDirectory, projectPaths } from '../../src/store/directories.ts';
import { temporaryFolder } from './git-project.ts';

describe('the folder .ktx of a project', () => {
  test('is refused as a link, and so is each file in it that is a link', () => {
    const refusal = expect.objectContaining({ code: 'state_is_link', exitCode: 2 });
    const elsewhere = temporaryFolder();
    const linked = temporaryFolder();
    symlinkSync(elsewhere, join(linked, '.ktx'));
    expect(() => projectPaths(linked)).toThrow(refusal);

    const project = temporaryFolder();
    mkdirSync(join(project, '.ktx'));
    writeFileSync(join(elsewhere, 'target'), '');
    symlinkSync(join(elsewhere, 'target'), join(project, '.ktx/journal.db'));
    expect(() => projectPaths(project)).toThrow(refusal);
    expect(() => ensureStateDirectory(project)).toThrow('.ktx/journal.db is a symbolic link');

    const nested = temporaryFolder();
    mkdirSync(join(nested, '.ktx/cache'), { recursive: true });
    symlinkSync(join(elsewhere, 'target'), join(nested, '.ktx/cache/shop.duckdb'));
    expect(() => projectPaths(nested)).toThrow('.ktx/cache/shop.duckdb is a symbolic link');
  });

  test('keeps all that is in it out of git', () => {
    const project = temporaryFolder();
    const { state } = ensureStateDirectory(project);
    expect(readFileSync(join(state, '.gitignore'), 'utf8')).toBe('*\n');
  });
});
