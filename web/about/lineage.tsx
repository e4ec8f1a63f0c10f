import type { Explanation, Origin, Use } from '../answers.ts';
import { Said, Section, Subject } from '../parts/basics.tsx';
import { linkToSubject } from '../router.ts';
import { nameSubject } from '../parts/text.ts';

/** What a subject is made of, down to tables and files, and what is made of it. */
export function Lineage({ explanation }: { readonly explanation: Explanation }) {
  const { subject, origins = [], uses = [] } = explanation;
  if (origins.length + uses.length === 0) return null;
  const { connection } = nameSubject(subject);
  return (
    <Section title="Lineage">
      <div class="lineage">
        {origins.length === 0 ? null : (
          <section aria-label="What it is made of">
            <h3>What it is made of</h3>
            <Origins origins={origins} />
          </section>
        )}
        {uses.length === 0 ? null : (
          <section aria-label="What depends on it">
            <h3>What depends on it</h3>
            <Dependants uses={uses} connection={connection} />
          </section>
        )}
      </div>
    </Section>
  );
}

function Origins({ origins }: { readonly origins: readonly Origin[] }) {
  return (
    <ul class="tree">
      {origins.map(({ kind, name, subject, file, from }) => (
        <li key={`${kind} ${name} ${file}`}>
          {kind === 'transformation' ? null : <span class="soft">{kind} </span>}
          {subject === undefined ? <Said>{name}</Said> : <Subject of={subject} />}{' '}
          <FilePath file={file} />
          {from.length === 0 ? null : <Origins origins={from} />}
        </li>
      ))}
    </ul>
  );
}

interface DependantsProps {
  readonly uses: readonly Use[];
  readonly connection: string;
}

function Dependants({ uses, connection }: DependantsProps) {
  return (
    <ul class="tree">
      {uses.map(({ kind, name, file, uses: inner = [] }) => (
        <li key={`${kind} ${name}`}>
          <span class="soft">{kind}</span>{' '}
          {kind === 'metric' ? (
            <a href={linkToSubject(`metric:${connection}.${name}`)}>
              <Said>{name}</Said>
            </a>
          ) : (
            <Said>{name}</Said>
          )}{' '}
          <FilePath file={file} />
          {inner.length === 0 ? null : <Dependants uses={inner} connection={connection} />}
        </li>
      ))}
    </ul>
  );
}

function FilePath({ file }: { readonly file: string | undefined }) {
  if (file === undefined) return null;
  return (
    <span class="soft file">
      <Said>{file}</Said>
    </span>
  );
}
