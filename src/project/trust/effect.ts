/**
 * One thing that an entry of the configuration does on this machine or beyond it. A setting only
 * says how.
 */
export interface Effect {
  readonly kind: 'host' | 'program' | 'path' | 'secret' | 'money' | 'setting';
  readonly text: string;
}
