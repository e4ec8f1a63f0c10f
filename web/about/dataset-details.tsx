import type { DatasetFile } from '../answers.ts';
import { useData } from '../data.ts';
import { Chip, Empty, Failure, Said, Section, Waiting } from '../parts/basics.tsx';
import { count, definitionText, valueText } from '../parts/text.ts';
import { linkTo, linkToSubject } from '../router.ts';

type Definition = NonNullable<DatasetFile['definition']>;

interface DatasetDetailsProps {
  readonly connection: string;
  readonly dataset: string;
}

/** The file of a dataset as tables. */
export function DatasetDetails({ connection, dataset }: DatasetDetailsProps) {
  const { data, error } = useData<DatasetFile>('dataset', { dataset, connection });
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <Waiting />;
  const { definition } = data;
  if (definition === undefined)
    return (
      <Empty>
        The file is invalid, so queries leave it out: <code>ktx sl validate</code>
      </Empty>
    );
  const place = { connection, definition };
  return (
    <>
      <p class="soft facts">
        <Said>{definition.source ?? dataset}</Said> · <Said>{factsOf(definition)}</Said> ·{' '}
        <a href={`${linkTo('joins')}?of=${encodeURIComponent(dataset)}`}>joins</a>
      </p>
      <Metrics {...place} />
      <Fields {...place} />
      <Joins {...place} />
    </>
  );
}

function factsOf({ primary_key: key, default_time: time }: Definition): string {
  const rows = key === undefined ? 'no key' : `one row per ${key.join(', ')}`;
  return time === undefined ? rows : `${rows} · time ${time}`;
}

interface PartProps {
  readonly connection: string;
  readonly definition: Definition;
}

function Metrics({ connection, definition: { dataset, metrics = [] } }: PartProps) {
  if (metrics.length === 0) return null;
  return (
    <Section title="Metrics" note={String(metrics.length)}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Metrics">
        <table class="grid">
          <tbody>
            {metrics.map(({ name, description, ...definition }) => (
              <tr key={name}>
                <th scope="row">
                  <a href={linkToSubject(`metric:${connection}.${dataset}.${name}`)}>
                    <Said>{name}</Said>
                  </a>
                </th>
                <td class="mono">{definitionText(definition)}</td>
                <td>
                  <Said>{description ?? ''}</Said>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function Fields({ connection, definition: { dataset, fields = [] } }: PartProps) {
  return (
    <Section title="Fields" note={count(fields.length, 'field')}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Fields">
        <table class="grid">
          <tbody>
            {fields.map(({ name, type, description, values, pii }) => (
              <tr key={name}>
                <th scope="row">
                  <a href={linkToSubject(`field:${connection}.${dataset}.${name}`)}>
                    <Said>{name}</Said>
                  </a>
                </th>
                <td class="soft">{type ?? ''}</td>
                <td>
                  <Said>{description ?? ''}</Said>{' '}
                  {Array.isArray(values) ? (
                    <span class="soft">
                      <Said>{values.map(valueText).join(', ')}</Said>
                    </span>
                  ) : null}
                  {pii === undefined ? null : <Chip>personal: {valueText(pii)}</Chip>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function Joins({ connection, definition: { relationships = [] } }: PartProps) {
  if (relationships.length === 0) return null;
  return (
    <Section title="Joins">
      <ul class="lines">
        {relationships.map(({ to, on, role }) => (
          <li key={`${to} ${role ?? ''}`}>
            <a href={linkToSubject(`dataset:${connection}.${to}`)}>
              <Said>{to}</Said>
            </a>{' '}
            {role === undefined ? null : (
              <>
                as <Said>{role}</Said>{' '}
              </>
            )}
            <code class="soft">
              <Said>{valueText(on).replaceAll('\n', ', ')}</Said>
            </code>
          </li>
        ))}
      </ul>
    </Section>
  );
}
