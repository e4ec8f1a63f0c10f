import { Option } from '@commander-js/extra-typings';

/** Where a password that a person types can be kept. */
export const passwordPlaces = ['keychain', 'env', 'file'] as const;
export type PasswordPlace = (typeof passwordPlaces)[number];

/** `--keep-password`, which answers what is asked after a password. */
export const keepPasswordFlag = () =>
  new Option(
    '--keep-password <place>',
    'where to keep a password that is typed: keychain: that of this machine; env: .env of the project; file: a file of your own',
  ).choices(passwordPlaces);
