// Words of the week and of a day, as configuration writes them.

export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;
/** In the order of ISO weekday numbers: `WEEKDAYS[isoWeekday - 1]`. */
export type Weekday = (typeof WEEKDAYS)[number];

/** Local wall-clock times `HH:MM`; `from` is included, `to` is not, and `24:00` ends the day. `from` < `to`. */
export interface TimeWindow {
  from: string;
  to: string;
}
