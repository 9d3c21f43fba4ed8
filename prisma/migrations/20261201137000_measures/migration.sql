-- What metrics and health are told of all tenants together: counts and ages, nothing that belongs to anybody.

create index inbox_settled on inbox (settled_at) where settled_at is not null;
create index outbox_settled on outbox (settled_at) where settled_at is not null;
create index steps_unknown on steps (tenant_id) where state = 'unknown';

create policy owner_finds on steps for select to aroko_owner using (true);

-- What is open now. Each part reads an index of open rows only, so it costs what is open and not what has ever been.
create function aroko_open_work() returns table (
  messages int, oldest_message_seconds float8,
  outbox_planned int, outbox_sending int, outbox_unknown int,
  approvals int, oldest_approval_seconds float8,
  operator_requests int, unknown_effects int)
language sql stable security definer set search_path = public, pg_temp as $$
  with m as (select count(*)::int as n, min(received_at) as since from inbox where state = 'accepted'),
    o as (select count(*) filter (where state = 'planned')::int as planned, count(*) filter (where state = 'sending')::int as sending,
        count(*) filter (where state = 'unknown')::int as unknown
      from outbox where state in ('planned', 'sending', 'unknown')),
    a as (select count(*)::int as n, min(asked_at) as since from approvals where state = 'open'),
    q as (select count(*)::int as n from operator_requests where state = 'open'),
    e as (select count(*)::int as n from steps where state = 'unknown')
  select m.n, coalesce(extract(epoch from now() - m.since), 0)::float8, o.planned, o.sending, o.unknown,
    a.n, coalesce(extract(epoch from now() - a.since), 0)::float8, q.n, e.n
  from m, o, a, q, e $$;

-- What was settled in a span of time: per state and class of duration (the place among `p_bounds`) how many, and how long all
-- of them took together. `what` is `message` or `send`.
create function aroko_settled_between(p_after timestamptz, p_until timestamptz, p_bounds float8[])
returns table (what text, state text, place int, amount int, seconds float8)
language sql stable security definer set search_path = public, pg_temp as $$
  select s.what, s.state, width_bucket(s.seconds, p_bounds), count(*)::int, sum(s.seconds)::float8 from (
    select 'message' as what, state, greatest(extract(epoch from settled_at - received_at), 0)::float8 as seconds from inbox
      where settled_at > p_after and settled_at <= p_until
    union all
    select 'send', state, greatest(extract(epoch from settled_at - planned_at), 0)::float8 from outbox
      where settled_at > p_after and settled_at <= p_until
  ) s group by 1, 2, 3 $$;

-- The migrations that are applied, for whoever has to know whether the database is as new as the program.
create function aroko_migrations() returns setof text
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return query select migration_name::text from _prisma_migrations where finished_at is not null and rolled_back_at is null;
end $$;

revoke all on function aroko_open_work(), aroko_settled_between(timestamptz, timestamptz, float8[]), aroko_migrations() from public;
grant execute on function aroko_open_work(), aroko_settled_between(timestamptz, timestamptz, float8[]), aroko_migrations()
  to aroko_app;
