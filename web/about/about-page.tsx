import type { Explained, Explanation } from '../answers.ts';
import { useData } from '../data.ts';
import { Chip, Failure, Said, Section, Title, Waiting } from '../parts/basics.tsx';
import { Evidence } from '../parts/evidence.tsx';
import { count, definitionText, nameSubject, valueText } from '../parts/text.ts';
import { linkTo, type Place } from '../router.ts';
import { DatasetDetails } from './dataset-details.tsx';
import { Lineage } from './lineage.tsx';
import { QueryBuilder } from './query-builder.tsx';

/** Everything about one subject: what holds, who says so, what depends on it. */
export function AboutPage({ place }: { readonly place: Place }) {
  const subject = place.parts[1] ?? '';
  const { data, error } = useData<Explained>('explain', { subject });
  const named = nameSubject(subject);
  return (
    <>
      <p class="crumbs soft">
        {named.type.replace('_', ' ')}
        {named.dataset === '' || named.type === 'dataset' ? null : (
          <>
            {' of '}
            <a href={linkTo('about', `dataset:${named.connection}.${named.dataset}`)}>
              <Said>{named.dataset}</Said>
            </a>
          </>
        )}
      </p>
      <Title>
        <Said>{named.name}</Said>
      </Title>
      {error === undefined ? null : <Failure error={error} />}
      {data === undefined && error === undefined ? <Waiting /> : null}
      {data?.explanations.map((explanation) => (
        <Head key={explanation.subject} explanation={explanation} />
      ))}
      {named.type === 'dataset' ? (
        <DatasetDetails connection={named.connection} dataset={named.dataset} />
      ) : null}
      {named.type === 'metric' ? (
        <QueryBuilder connection={named.connection} metric={named.name} />
      ) : null}
      {data?.explanations.map((explanation) => (
        <Grounds key={explanation.subject} explanation={explanation} />
      ))}
    </>
  );
}

/** What it is, and what is wrong with it. */
function Head({ explanation }: { readonly explanation: Explanation }) {
  const { contested, stale, values } = explanation;
  const description = values.find(({ key }) => key === 'description')?.value;
  return (
    <>
      {typeof description === 'string' ? (
        <p class="description">
          <Said>{description}</Said>
        </p>
      ) : null}
      {contested.map(({ kind, variants }) => (
        <p key={kind} class="notice">
          <Chip tone="warn">contested</Chip> {variants.length} versions of its {kind}.{' '}
          <a href={`#/review?subject=${encodeURIComponent(explanation.subject)}`}>Decide</a>
        </p>
      ))}
      {stale.map(({ subject, why }) => (
        <p key={subject} class="notice">
          <Chip tone="warn">stale</Chip> <Said>{why}</Said>
        </p>
      ))}
    </>
  );
}

/** What holds, who says so, what depends on it. */
function Grounds({ explanation }: { readonly explanation: Explanation }) {
  return (
    <>
      <Lineage explanation={explanation} />
      {explanation.values.length === 0 ? null : <Values explanation={explanation} />}
      <Claims explanation={explanation} />
    </>
  );
}

/** What the file says, who wrote it, and where. */
function Values({ explanation: { values } }: { readonly explanation: Explanation }) {
  return (
    <Section title="What holds" note={values[0]?.path ?? ''}>
      <table class="grid values">
        <tbody>
          {values.map(({ key, value, by, line }) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td class="mono">
                <Said>{valueText(value)}</Said>
              </td>
              <td class="soft">{by === 'person' ? 'a person' : 'ktx'}</td>
              <td class="soft number">line {line}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

/** The claims as a tree: each with the items that say it; those that are not shown are folded. */
function Claims({ explanation: { claims, addresses } }: { readonly explanation: Explanation }) {
  if (claims.length === 0) return null;
  return (
    <Section title="Who says so" note={count(claims.length, 'claim')}>
      <ul class="claims">
        {claims.map((claim) => (
          <li key={claim.id}>
            <details open={claim.shown}>
              <summary>
                <b>{claim.kind.replaceAll('_', ' ')}</b>{' '}
                <code>
                  <Said>{definitionText(claim.body).replaceAll('\n', ', ')}</Said>
                </code>{' '}
                {claim.shown ? null : <Chip>kept, not shown</Chip>}
              </summary>
              <Evidence claim={claim} addresses={addresses} />
            </details>
          </li>
        ))}
      </ul>
    </Section>
  );
}
