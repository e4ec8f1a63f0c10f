import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeDatabase } from '../../bench/relationships/write-database.ts';
import { scanFile } from '../../bench/relationships/score.ts';
import {
  buildDatabase,
  code,
  day,
  onePerRow,
  fromTuple,
  computed,
  polymorphicId,
  money,
  oneOf,
  ref,
  serial,
  integer,
  words,
  type HandWrittenSchema,
} from '../../bench/relationships/schema-builder.ts';
import { scanReport } from '../../src/scan/report.ts';

const dir = mkdtempSync(join(tmpdir(), 'ktx-shapes-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** What is accepted where nothing is declared. */
async function found(name: string, schema: HandWrittenSchema) {
  const path = join(dir, `${name}.sqlite`);
  writeDatabase(path, buildDatabase(name, schema));
  const { links, primary_keys: primaryKeys, notes } = scanReport(await scanFile(path, 'all'));
  const accepted = links.filter(({ status }) => status === 'accepted');
  const text = ({ from, to }: (typeof links)[number]): string =>
    `${from.table}(${from.columns.join()}) -> ${to.table}(${to.columns.join()})`;
  const guessed = links.filter(({ status }) => status === 'review');
  return {
    links: accepted.map(text).sort(),
    accepted,
    guessed: guessed.map((link) => `${text(link)}: ${JSON.stringify(link.evidence['why'])}`).sort(),
    keys: primaryKeys
      .filter(({ status }) => status === 'accepted')
      .map(({ table, columns }) => `${table.replace(/^.*\./, '')}(${columns.join()})`)
      .sort(),
    notes,
  };
}

const staff: HandWrittenSchema = {
  staff: {
    rows: 60,
    key: ['staff_id'],
    columns: { staff_id: serial(), full_name: words(), hired_on: day() },
  },
};

describe('without a declaration', () => {
  test('a composite key whose parts repeat is referred to as a whole', async () => {
    const { links } = await found('composite-parts', {
      ledger: {
        rows: 90,
        key: ['company_code', 'ledger_no'],
        columns: {
          company_code: computed('TEXT', ({ row }) => `C${row % 3}`),
          ledger_no: computed('INTEGER', ({ row }) => 400 + Math.floor(row / 3) * (1 + (row % 3))),
          title: words(),
        },
      },
      posting: {
        rows: 900,
        key: ['posting_id'],
        columns: {
          posting_id: serial(),
          company_code: fromTuple('TEXT'),
          ledger_no: fromTuple(),
          amount: money(90),
        },
        tuples: [[['company_code', 'ledger_no'], 'ledger', ['company_code', 'ledger_no']]],
      },
    });
    expect(links).toEqual(['posting(company_code,ledger_no) -> ledger(company_code,ledger_no)']);
  });

  test('a polymorphic reference is joined to none of its tables, and a note names them', async () => {
    const { links, notes } = await found('polymorphic', {
      photo: { rows: 90, key: ['id'], columns: { id: serial(), caption: words() } },
      article: { rows: 70, key: ['id'], columns: { id: serial(), headline: words() } },
      remark: {
        rows: 300,
        key: ['id'],
        columns: {
          id: serial(),
          subject_type: oneOf('Photo', 'Article'),
          subject_id: polymorphicId('subject_type', {
            Photo: ['photo', 'id'],
            Article: ['article', 'id'],
          }),
          body: words(),
        },
      },
    });
    expect(links).toEqual([]);
    expect(notes).toEqual([
      'remark(subject_id) is not joined, polymorphic: subject_type tells which table is meant (article, photo)',
    ]);
  });

  test('a self-reference is found by its role', async () => {
    const { links } = await found('self', {
      unit: {
        rows: 120,
        key: ['unit_no'],
        columns: {
          unit_no: serial(),
          title: words(),
          parent_unit_no: ref('unit', 'unit_no', { nulls: 0.2 }),
        },
      },
      ...staff,
    });
    expect(links).toEqual(['unit(parent_unit_no) -> unit(unit_no)']);
  });

  test('roles are told apart by the words of their columns', async () => {
    const { links, accepted } = await found('roles', {
      ...staff,
      contract: {
        rows: 500,
        key: ['contract_id'],
        columns: {
          contract_id: serial(),
          drafting_staff_id: ref('staff', 'staff_id'),
          signing_staff_id: ref('staff', 'staff_id', { nulls: 0.3 }),
          worth: money(900),
        },
      },
    });
    expect(links).toEqual([
      'contract(drafting_staff_id) -> staff(staff_id)',
      'contract(signing_staff_id) -> staff(staff_id)',
    ]);
    expect(
      accepted.map(({ role }) => role).toSorted((a = '', b = '') => a.localeCompare(b)),
    ).toEqual(['drafting', 'signing']);
  });

  test('an extension is one to one, and leads from the extension to what it extends', async () => {
    const { links, accepted } = await found('extension', {
      ...staff,
      staff_badge: {
        rows: 45,
        key: ['staff_id'],
        columns: {
          staff_id: onePerRow('staff', 'staff_id'),
          printed_on: day(),
          colour: oneOf('red', 'blue'),
        },
      },
    });
    expect(links).toEqual(['staff_badge(staff_id) -> staff(staff_id)']);
    expect(accepted[0]?.cardinality).toBe('one_to_one');
  });

  test('a bridge without a key of its own leads to both sides', async () => {
    const { links, accepted } = await found('bridge', {
      ...staff,
      permit: {
        rows: 30,
        key: ['permit_code'],
        columns: { permit_code: code('P', 100), title: words() },
      },
      staff_permit: {
        rows: 240,
        key: ['staff_id', 'permit_code'],
        columns: { staff_id: ref('staff', 'staff_id'), permit_code: ref('permit', 'permit_code') },
      },
    });
    expect(links).toEqual([
      'staff_permit(permit_code) -> permit(permit_code)',
      'staff_permit(staff_id) -> staff(staff_id)',
    ]);
    expect(accepted.map(({ cardinality }) => cardinality)).toEqual(['many_to_one', 'many_to_one']);
  });

  test('a 0 that stands for nothing and orphans break no link; one of an empty child is a guess', async () => {
    const { links, guessed } = await found('holes', {
      ...staff,
      visit: {
        rows: 600,
        key: ['visit_id'],
        columns: {
          visit_id: serial(),
          staff_id: ref('staff', 'staff_id', { nulls: 0.4, none: 0 }),
          floor: integer(1, 9),
        },
      },
      parcel: {
        rows: 600,
        key: ['parcel_id'],
        columns: {
          parcel_id: serial(),
          staff_id: ref('staff', 'staff_id', { orphans: 0.05 }),
          grams: integer(1, 900),
        },
      },
      absence: {
        rows: 0,
        key: ['absence_id'],
        columns: { absence_id: serial(), staff_id: ref('staff', 'staff_id'), since: day() },
      },
    });
    expect(links).toEqual([
      'parcel(staff_id) -> staff(staff_id)',
      'visit(staff_id) -> staff(staff_id)',
    ]);
    expect(guessed).toEqual(['absence(staff_id) -> staff(staff_id): "no rows to judge by"']);
  });

  test('tables without rows or with a few have keys and links that are guesses', async () => {
    const { keys, links, guessed } = await found('few', {
      ...staff,
      // Two columns of four rows have no duplicates by chance.
      desk: {
        rows: 4,
        key: [],
        columns: { floor: oneOf('1', '2'), wing: oneOf('a', 'b', 'c', 'd'), seats: integer(1, 9) },
      },
      locker: {
        rows: 0,
        key: ['locker_id'],
        columns: { locker_id: serial(), desk_code: words(), opened_on: day() },
      },
      badge: {
        rows: 1,
        key: ['badge_id'],
        columns: { badge_id: serial(), owner: ref('staff', 'staff_id'), printed_on: day() },
      },
    });
    expect(keys).toEqual(['badge(badge_id)', 'staff(staff_id)']);
    expect(links).toEqual([]);
    expect(guessed.filter((link) => !link.endsWith('"too few rows to judge by"'))).toEqual([]);
  });

  test('names of other scripts part where their words do', async () => {
    const { links } = await found('scripts', {
      患者: { rows: 140, key: ['患者番号'], columns: { 患者番号: serial(), 氏名: words() } },
      診察: {
        rows: 500,
        key: ['診察番号'],
        columns: {
          診察番号: serial(),
          患者番号: ref('患者', '患者番号'),
          紹介患者番号: ref('患者', '患者番号', { nulls: 0.5 }),
          料金: money(90),
        },
      },
      Врачи: { rows: 40, key: ['Код'], columns: { Код: serial(), Фамилия: words() } },
      Приемы: {
        rows: 400,
        key: ['Код'],
        columns: { Код: serial(), КодВрача: ref('Врачи', 'Код'), Дата: day() },
      },
    });
    expect(links).toEqual([
      'Приемы(КодВрача) -> Врачи(Код)',
      '診察(患者番号) -> 患者(患者番号)',
      '診察(紹介患者番号) -> 患者(患者番号)',
    ]);
  });

  test('a count named after a table is no reference to it', async () => {
    const { links } = await found('counts', {
      worker: {
        rows: 60,
        key: ['worker_id'],
        columns: { worker_id: serial(), full_name: words() },
      },
      office: {
        rows: 200,
        key: ['office_id'],
        columns: {
          office_id: serial(),
          NumberWorkers: integer(1, 60),
          no_of_desks: integer(1, 90),
        },
      },
      desk: {
        rows: 300,
        key: ['desk_id'],
        columns: {
          desk_id: serial(),
          office_id: ref('office', 'office_id'),
          sort_order: integer(1, 30),
        },
      },
    });
    expect(links).toEqual(['desk(office_id) -> office(office_id)']);
  });
});
