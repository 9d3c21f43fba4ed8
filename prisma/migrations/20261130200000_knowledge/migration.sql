-- Bookings that their owner can list, cancel and move, and the business's own pages for answers.

-- Bookings ---------------------------------------------------------------------------------------------------------

alter table bookings
  -- A short name for it. Looked up only among one person's own bookings, so it has to be told apart there and nowhere else.
  add column reference text not null default 'B' || upper(substr(md5(gen_random_uuid()::text), 1, 5)),
  add column cancelled_at timestamptz,
  add constraint bookings_cancelled_at check ((state = 'cancelled') = (cancelled_at is not null));
create index bookings_of_contact on bookings (contact_id, starts_at);

-- What became of a booking, and under which key: "did it happen?" is answered from here. Never changed.
create table booking_changes (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  booking_id uuid not null,
  kind text not null check (kind in ('cancelled', 'moved')),
  request_key text not null,
  starts_at_before timestamptz not null,
  -- Null for a cancellation.
  starts_at timestamptz,
  changed_at timestamptz not null default now(),
  unique (tenant_id, request_key),
  check ((kind = 'moved') = (starts_at is not null)),
  foreign key (tenant_id, booking_id) references bookings (tenant_id, id)
);

-- Moves one booking of one person; the old slot is kept unless the new one is got. Answers moved, taken, gone (no longer
-- theirs to move) or too_late (the time for this call is over).
create function aroko_move_booking(p_change_id uuid, p_booking_id uuid, p_contact_id uuid, p_starts_at timestamptz,
  p_ends_at timestamptz, p_request_key text, p_call_by timestamptz) returns text
language plpgsql set search_path = public, pg_temp as $$
declare
  v_booking bookings;
begin
  -- One move at a time: two that want each other's slots would wait for each other until one is shot.
  perform pg_advisory_xact_lock(hashtextextended('aroko_move_booking/' || aroko_tenant()::text, 0));
  select * into v_booking from bookings
    where id = p_booking_id and contact_id = p_contact_id and state = 'reserved' for update;
  if not found then
    return 'gone';
  end if;
  begin
    update bookings set starts_at = p_starts_at, ends_at = p_ends_at where id = p_booking_id;
    -- Asked last, because the update may have waited for others.
    if clock_timestamp() >= p_call_by then
      raise exception 'the deadline has passed' using errcode = 'AR001';
    end if;
    insert into booking_changes (id, tenant_id, booking_id, kind, request_key, starts_at_before, starts_at)
      values (p_change_id, v_booking.tenant_id, p_booking_id, 'moved', p_request_key, v_booking.starts_at, p_starts_at);
  exception
    when exclusion_violation then return 'taken';
    when sqlstate 'AR001' then return 'too_late';
  end;
  return 'moved';
end $$;
revoke all on function aroko_move_booking(uuid, uuid, uuid, timestamptz, timestamptz, text, timestamptz) from public;
grant execute on function aroko_move_booking(uuid, uuid, uuid, timestamptz, timestamptz, text, timestamptz) to aroko_app;

-- The business's own knowledge: plain, because it is written for everybody to read ----------------------------------

create table knowledge_passages (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  -- The page's path below the tenant's folder of pages, and what it and the way of cutting it hashed to.
  file text not null,
  file_hash text not null,
  ordinal int not null,
  title text not null,
  -- The headings above the passage, from the page's own down: "Repairs › Punctures".
  heading text not null,
  body text not null,
  -- No index: row-level security comes before operators that aren't leakproof, and @@ isn't. The tenant's rows are read
  -- by the key below; a business has hundreds of passages, not millions.
  search tsvector not null,
  ingested_at timestamptz not null default now(),
  unique (tenant_id, file, ordinal)
);

-- Rights -----------------------------------------------------------------------------------------------------------

do $$
declare
  t text;
begin
  foreach t in array array['booking_changes', 'knowledge_passages']
  loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant_rows on %I using (tenant_id = aroko_tenant()) with check (tenant_id = aroko_tenant())', t);
    execute format('grant select on %I to aroko_app, aroko_read', t);
  end loop;
end $$;
grant insert on booking_changes, knowledge_passages to aroko_app;
grant delete on knowledge_passages to aroko_app;
