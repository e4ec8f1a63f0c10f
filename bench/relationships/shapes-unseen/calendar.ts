import {
  dayNumber,
  integer,
  money,
  oneOf,
  ref,
  serial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const calendar: HandWrittenSchema = {
  d_calendar: {
    rows: 1000,
    key: ['date_key'],
    columns: { date_key: dayNumber(), iso_week: integer(1, 53), is_holiday: integer(0, 1) },
  },
  d_hotel: {
    rows: 45,
    key: ['hotel_key'],
    columns: {
      hotel_key: serial(),
      hotel_name: words(),
      rooms: integer(20, 300),
      opened_date_key: ref('d_calendar', 'date_key'),
    },
  },
  d_room_type: {
    rows: 7,
    key: ['room_type_key'],
    columns: { room_type_key: serial(), label: words() },
  },
  d_channel: { rows: 5, key: ['channel_key'], columns: { channel_key: serial(), label: words() } },
  d_guest: {
    rows: 600,
    key: ['guest_key'],
    columns: {
      guest_key: serial(),
      nationality: oneOf('SE', 'NO', 'FI'),
      loyalty_tier: oneOf('none', 'gold'),
    },
  },
  f_booking: {
    rows: 2500,
    key: ['booking_key'],
    columns: {
      booking_key: serial(),
      hotel_key: ref('d_hotel', 'hotel_key', { orphans: 0.05 }),
      guest_key: ref('d_guest', 'guest_key', { nulls: 0.05, none: -1 }),
      room_type_key: ref('d_room_type', 'room_type_key'),
      channel_key: ref('d_channel', 'channel_key'),
      booked_date_key: ref('d_calendar', 'date_key'),
      arrival_date_key: ref('d_calendar', 'date_key'),
      departure_date_key: ref('d_calendar', 'date_key', { nulls: 0.03, none: 0 }),
      nights: integer(1, 14),
      revenue: money(2000),
    },
  },
  f_occupancy: {
    rows: 3000,
    key: ['date_key', 'hotel_key', 'room_type_key'],
    columns: {
      date_key: ref('d_calendar', 'date_key', { share: 0.1 }),
      hotel_key: ref('d_hotel', 'hotel_key'),
      room_type_key: ref('d_room_type', 'room_type_key'),
      sold: integer(0, 90),
      available: integer(0, 90),
    },
  },
};
