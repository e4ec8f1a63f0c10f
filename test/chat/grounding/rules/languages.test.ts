import { test } from 'vitest';
import { rowsOf } from '../blind/answer.ts';
import { expectTwin } from './twin.ts';

const revenue = rowsOf('q1', 'negyedev bevetel', ['2024-Q1', 88_900_412], ['2024-Q2', 92_146_894]);
const cities = rowsOf('q1', 'kota penjualan', ['Surabaya', 814_086_625], ['Bandung', 536_877_778]);
const states = rowsOf('q1', 'राज्य बिक्री', ['पंजाब', 24_054_142], ['बिहार', 18_779_242]);
const waits = rowsOf('q1', 'channel minutes', ['puhelin', 412], ['posti', 1530]);
const metrics = rowsOf(
  'q1',
  'metric value',
  ['monthly_active_users', 183_682],
  ['daily_active_users', 42_034],
);

test.for([
  ['a million in Hungarian', revenue, '2024-Q1: 88,9 millió Ft', '88,9 millió', '84,9 millió'],
  ['a currency of letters', cities, 'Surabaya: Rp814.086.625', '814.086.625', '814.086.925'],
  ['a scale with vowel signs', states, 'पंजाब: ₹240.5 लाख', '240.5 लाख', '204.5 लाख'],
  ['hours in Finnish', waits, 'puhelin: 6,9 tuntia', '6,9', '4,9'],
  ['initials of a name', metrics, '- MAU: 183,682\n- DAU: 42,034', '42,034', '42,834'],
] as const)('%s', ([, evidence, text, right, wrong]) => {
  expectTwin({ evidence, text, right, wrong });
});
