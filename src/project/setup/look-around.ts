import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { driverOfFile, drivers } from '../../warehouse/config.ts';
import type { DriverDescription } from '../../warehouse/driver-description.ts';
import { findProject } from '../open/find-project.ts';

/** Something in a folder that ktx can use. */
export interface Sighting {
  /** `chinook.db`, `3 files in exports` */
  readonly where: string;
  /** `a SQLite database` */
  readonly what: string;
  /** What to type behind `ktx` to use it. */
  readonly next: string;
  /** True if `next` adds to a project, which `ktx setup` has to make first. */
  readonly needsProject?: boolean | undefined;
  /** The flags of `ktx setup` that connect it, by their names; undefined where it takes more. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
}

/** Folders of thousands of files are not looked through to their end. */
const mostEntries = 500;

/**
 * What a folder has for ktx, the most useful first: a project, database files, files of tables, a
 * dbt project, a database address. Opens nothing but the first bytes of files, and connects to
 * nothing. Of a variable it reads the scheme of its address.
 */
export function lookAround(dir: string, env: NodeJS.ProcessEnv): readonly Sighting[] {
  const project = findProjectAt(dir, env);
  if (project !== undefined) return [{ where: project, what: 'a ktx project', next: 'status' }];
  return lookForData(dir, env);
}

/** Like `lookAround`, whether a project is there or above. */
export function lookForData(dir: string, env: NodeJS.ProcessEnv): readonly Sighting[] {
  const names = listFolder(dir);
  return [
    ...names.flatMap((name) => databaseFile(dir, name) ?? []),
    ...tableFiles(dir, names),
    ...dbtProjects(dir, names),
    ...databaseAddresses(dir, env),
    ...documentFolders(dir, names),
  ];
}

/** What a folder has that a project reads beside its warehouse. */
export function lookForSources(dir: string): readonly SourceSighting[] {
  const names = listFolder(dir);
  const projects = dbtProjects(dir, names).map((found) => ({ ...found, ...addDbt(found.folder) }));
  return [...projects, ...documentFolders(dir, names)];
}

interface SourceSighting extends Sighting {
  /** Relative to the folder that was looked in. */
  readonly folder: string;
}

function findProjectAt(dir: string, env: NodeJS.ProcessEnv): string | undefined {
  try {
    return findProject(dir, undefined, env);
  } catch {
    return undefined;
  }
}

function listFolder(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
      .filter((name) => !name.startsWith('.'))
      .sort()
      .slice(0, mostEntries);
  } catch {
    return [];
  }
}

function isOf(dir: string, name: string, kind: 'file' | 'folder'): boolean {
  const stats = lstatSync(join(dir, name), { throwIfNoEntry: false });
  return kind === 'file' ? stats?.isFile() === true : stats?.isDirectory() === true;
}

function databaseFile(dir: string, name: string): Sighting | undefined {
  const driver = isOf(dir, name, 'file') ? driverOfFile(join(dir, name)) : undefined;
  if (driver === undefined) return undefined;
  const path = `./${name}`;
  const what = `a ${driver.title.split(',')[0]} database`;
  const next = `setup --driver ${driver.name} --path ${quotePath(path)}`;
  return { where: name, what, next, flags: { driver: driver.name, path } };
}

/** The folder itself, and the folders in it, that have files of tables. */
function tableFiles(dir: string, names: readonly string[]): readonly Sighting[] {
  const all: readonly DriverDescription[] = drivers;
  return all.flatMap(({ name: driver, file }) => {
    const { tables } = file ?? {};
    if (tables === undefined) return [];
    const places = ['.', ...names.filter((name) => isOf(dir, name, 'folder'))];
    return places.flatMap((place): Sighting[] => {
      const entries = place === '.' ? names : listFolder(join(dir, place));
      const found = entries.filter(
        (entry) =>
          tables.test(entry) && !isConfiguration(entry) && isOf(join(dir, place), entry, 'file'),
      );
      if (found.length === 0) return [];
      const where = place === '.' ? 'this folder' : place;
      const path = place === '.' ? '.' : `./${place}`;
      const [first = ''] = found;
      const what = found.length === 1 ? first : `${found.length} files of tables, such as ${first}`;
      const next = `setup --driver ${driver} --path ${quotePath(path)}`;
      return [{ where, what, next, flags: { driver, path } }];
    });
  });
}

/** Files of programs that look like tables. */
function isConfiguration(name: string): boolean {
  return /^(?:package(?:-lock)?|tsconfig.*|manifest|catalog|composer|\.\w+)\.json$/i.test(name);
}

/** Names of folders that people give to what they write for each other. */
const documentFolderName = /^(?:docs?|documentation|handbook|wiki|knowledge(?:[-_ ]?base)?)$/i;
const documentFile = /\.(?:md|mdx|html?)$/i;

/** Folders of documents; `wiki` of a project is its own. */
function documentFolders(dir: string, names: readonly string[]): readonly SourceSighting[] {
  const isProject = names.includes('ktx.yaml');
  const folders = names.filter(
    (name) => documentFolderName.test(name) && isOf(dir, name, 'folder'),
  );
  return folders.flatMap((name): SourceSighting[] => {
    const files = listFolder(join(dir, name)).filter((entry) => documentFile.test(entry));
    if (files.length === 0 || (isProject && name === 'wiki')) return [];
    const what = files.length === 1 ? `a document, ${files[0]}` : `${files.length} documents`;
    const folder = `./${name}`;
    const next = `connection add ${nameFrom(name)} --driver docs --path ${quotePath(folder)}`;
    return [{ where: name, what, next, needsProject: true, folder }];
  });
}

/** A name for a connection. */
function nameFrom(folder: string): string {
  return folder.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
}

function addDbt(folder: string): Pick<Sighting, 'next' | 'needsProject'> {
  const next = `connection add dbt --driver dbt --path ${quotePath(folder)}`;
  return { next, needsProject: true };
}

/** The folder itself, and the folders in it, that are a dbt project. */
function dbtProjects(dir: string, names: readonly string[]): readonly SourceSighting[] {
  const inHome = existsSync(join(homedir(), '.dbt/profiles.yml'));
  const places = ['.', ...names.filter((name) => isOf(dir, name, 'folder'))];
  return places.flatMap((place) => {
    const entries = place === '.' ? names : listFolder(join(dir, place));
    if (!entries.includes('dbt_project.yml')) return [];
    const profiles = inHome || entries.includes('profiles.yml');
    const folder = place === '.' ? '.' : `./${place}`;
    const connects = { next: `setup --from-dbt ${quotePath(folder)}`, flags: { fromDbt: folder } };
    return [
      {
        folder,
        where: place === '.' ? 'dbt_project.yml' : `${place}/dbt_project.yml`,
        what: profiles ? 'a dbt project with profiles.yml' : 'a dbt project',
        ...(profiles ? connects : addDbt(folder)),
      },
    ];
  });
}

const addressName = /^(?:[A-Z_]*DATABASE_URL|WAREHOUSE_URL|POSTGRES_URL|MYSQL_URL)$/;

/** Variables of the environment and of `.env` whose names say that they have an address. */
function databaseAddresses(dir: string, env: NodeJS.ProcessEnv): readonly Sighting[] {
  const inFile = existsSync(join(dir, '.env')) ? ['.env'] : [];
  const named = Object.keys(env)
    .filter((name) => addressName.test(name))
    .sort();
  const all: readonly DriverDescription[] = drivers;
  const servers = all.filter(({ server }) => server !== undefined).map(({ name }) => name);
  /** By the scheme of the address; nothing else of it is read. */
  const driverFor = (variable: string): string | undefined => {
    const scheme = /^[a-z]+(?=:\/\/)/i.exec(env[variable] ?? '')?.[0].toLowerCase() ?? '';
    return servers.find((name) => scheme.startsWith(name));
  };
  const useOf = (variable: string): Pick<Sighting, 'next' | 'flags'> => {
    const driver = driverFor(variable);
    if (driver === undefined) return { next: 'setup' };
    const url = `env:${variable}`;
    return { next: `setup --driver ${driver} --url ${url}`, flags: { driver, url } };
  };
  return [
    ...named.map((name) => ({
      where: name,
      what: 'a variable of the environment',
      ...useOf(name),
    })),
    ...inFile.map((where) => ({
      where,
      what: 'variables that ktx.yaml can refer to as env:NAME',
      next: 'setup',
    })),
  ];
}

function quotePath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : JSON.stringify(path);
}
