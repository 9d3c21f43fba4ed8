// Which times can be booked: opening hours cut into slots, with notice and horizon. Knows nothing of what is taken.
import { type DateTime } from 'luxon';
import type { TenantConfiguration } from '../../../config/configuration.js';
import type { BookingsSettings } from '../../../config/schema/providers.js';
import {
  at,
  clockOf,
  dayInWords,
  momentInWords,
  openOn,
  windowsInWords,
  windowsOn,
  type Stretch,
} from '../calendar.js';

export type Slot = Stretch;

export function bookingsSettings(configuration: Pick<TenantConfiguration, 'providers'>): BookingsSettings {
  const settings = configuration.providers.bookings;
  if (!settings) throw new Error('a tool names the provider bookings, which has no settings');
  return settings;
}

/** All slots of a day, whether free or not. A clock time that comes twice when clocks go back is bookable once. */
export function slotsOf(
  configuration: Pick<TenantConfiguration, 'business' | 'providers'>,
  day: DateTime,
): Slot[] {
  const { slotMinutes } = bookingsSettings(configuration);
  const slots = openOn(configuration.business, day).flatMap((open) => {
    const inWindow: Slot[] = [];
    for (let start = open.start; ; start = start.plus({ minutes: slotMinutes })) {
      const end = start.plus({ minutes: slotMinutes });
      if (end > open.end) return inWindow;
      inWindow.push({ start, end });
    }
  });
  const times = slots.map(({ start }) => clockOf(start));
  return slots.filter((_, index) => times.indexOf(times[index] ?? '') === index);
}

/** A part of the day by its name in configuration; a name that isn't there is the whole day. */
export function isWithin(slot: Slot, settings: BookingsSettings, partOfDay: string | undefined): boolean {
  const window = partOfDay === undefined ? undefined : settings.partsOfDay[partOfDay];
  return !window || (slot.start >= at(slot.start, window.from) && slot.start < at(slot.start, window.to));
}

export function isBookable(slot: Slot, settings: BookingsSettings, now: DateTime): boolean {
  return slot.start >= now.plus({ minutes: settings.noticeMinutes }) && !isTooFar(slot.start, settings, now);
}

export function isTooFar(day: DateTime, { horizonDays }: BookingsSettings, now: DateTime): boolean {
  return day.startOf('day') > now.setZone(day.zone).startOf('day').plus({ days: horizonDays });
}

export type Unbookable = 'closed' | 'no_such_time' | 'too_late' | 'too_far';

/** The slot that begins at a clock time of a day, or why it can't be had, in words. */
export function bookableSlot(
  configuration: Pick<TenantConfiguration, 'business' | 'providers'>,
  { day, time, now }: { day: DateTime; time: string; now: DateTime },
): { slot: Slot } | { status: Unbookable; why: string } {
  const settings = bookingsSettings(configuration);
  const slots = slotsOf(configuration, day);
  const slot = slots.find(({ start }) => clockOf(start) === time);
  if (isTooFar(day, settings, now)) return { status: 'too_far', why: tooFar(day, settings) };
  if (slot && !isBookable(slot, settings, now)) {
    return {
      status: 'too_late',
      why:
        slot.start <= now
          ? `${momentInWords(slot.start)} is over already.`
          : `${momentInWords(slot.start)} is too soon: we need ${settings.noticeMinutes} minutes' notice.`,
    };
  }
  if (slot) return { slot };
  const windows = windowsOn(configuration.business, day);
  if (slots.length === 0) return { status: 'closed', why: `We're closed on ${dayInWords(day)}.` };
  const moment = at(day, time);
  const isOpen = openOn(configuration.business, day).some(
    ({ start, end }) => moment >= start && moment < end,
  );
  return isOpen
    ? { status: 'no_such_time', why: `${time} isn't one of our booking times. ${nearest(slots, moment)}` }
    : {
        status: 'closed',
        why: `We're not open at ${time} on ${dayInWords(day)}. Our hours that day are ${windowsInWords(windows)}.`,
      };
}

export function tooFar(day: DateTime, { horizonDays }: BookingsSettings): string {
  return `${dayInWords(day)} is too far ahead: bookings open ${horizonDays} days before.`;
}

function nearest(slots: readonly Slot[], moment: DateTime): string {
  const before = slots.findLast(({ start }) => start <= moment);
  const after = slots.find(({ start }) => start > moment);
  const times = [before, after].flatMap((slot) => (slot ? [clockOf(slot.start)] : []));
  return times.length === 1 ? `The nearest is ${times.join('')}.` : `The nearest are ${times.join(' and ')}.`;
}
