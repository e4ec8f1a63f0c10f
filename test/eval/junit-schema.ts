import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validateXML } from 'xmllint-wasm';

const schema = readFileSync(join(import.meta.dirname, 'junit.xsd'), 'utf8');

/** What libxml2 says of each document against the schema; the list of an accepted one is empty. */
export async function problemsOf(
  documents: Readonly<Record<string, string>>,
): Promise<Record<string, readonly string[]>> {
  const xml = Object.entries(documents).map(([fileName, contents]) => ({
    fileName: `${fileName}.xml`,
    contents,
  }));
  const { errors } = await validateXML({ xml, schema });
  return Object.fromEntries(
    Object.keys(documents).map((name) => [
      name,
      errors
        .filter(({ loc, rawMessage }) => `${loc?.fileName} ${rawMessage}`.includes(`${name}.xml`))
        .map(({ message }) => message),
    ]),
  );
}
