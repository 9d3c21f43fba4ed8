-- What the sweep looks at: chats whose session doesn't wait any more, leases that nobody has ended, and runs whose workflow may
-- be gone.

-- The upper bound of the wait for more messages, as the session's conversation keeps it.
alter table chat_sessions add column debounce_max_ms int not null default 0;

create policy owner_finds on chat_sessions for select to aroko_owner using (true);
create index chats_with_lease on chats (paused_until) where paused_until is not null;
create index tool_runs_open on tool_runs (turn_id) where open;

-- Messages that wait for the grace or the debounce of their session are nobody's omission: a bell would only cost.
create or replace function aroko_chats_behind(p_older_than interval, p_limit int)
returns table (tenant_id uuid, chat_id uuid, up_to int)
language sql stable security definer set search_path = public, pg_temp as $$
  select b.tenant_id, b.chat_id, max(b.up_to)::int from (
    select i.tenant_id, i.chat_id, max(i.sequence) as up_to from inbox i
      left join chat_sessions s on s.tenant_id = i.tenant_id and s.chat_id = i.chat_id and s.state <> 'resolved'
      where i.state = 'accepted' and i.turn_id is null
      group by i.tenant_id, i.chat_id, s.id
      having min(i.received_at) < now() - p_older_than and case s.state
        when 'waiting' then s.grace_until < now() - p_older_than
        when 'active' then max(i.received_at) < now() - p_older_than - s.debounce_max_ms * interval '1 millisecond'
          or min(i.received_at) < now() - p_older_than - 3 * s.debounce_max_ms * interval '1 millisecond'
        else true end
    union all
    -- A model may take its time over a decided turn: ringing meanwhile would only cost.
    select t.tenant_id, t.chat_id, t.up_to from turns t
      where t.state in ('claimed', 'decided') and t.claimed_at < now() - greatest(p_older_than, interval '90 seconds')
  ) b group by 1, 2 limit p_limit $$;

create function aroko_leases_over(p_older_than interval, p_limit int) returns table (tenant_id uuid, chat_id uuid)
language sql stable security definer set search_path = public, pg_temp as $$
  select tenant_id, id from chats where paused_until < now() - p_older_than order by paused_until limit p_limit $$;

-- In the order of their ids, from one on: whoever looks at a part of them each time comes by all of them.
create function aroko_runs_open(p_older_than interval, p_after uuid, p_limit int)
returns table (tenant_id uuid, chat_id uuid, turn_id uuid)
language sql stable security definer set search_path = public, pg_temp as $$
  select tenant_id, chat_id, turn_id from tool_runs
    where open and turn_id > p_after and started_at < now() - p_older_than order by turn_id limit p_limit $$;

revoke all on function aroko_leases_over(interval, int), aroko_runs_open(interval, uuid, int) from public;
grant execute on function aroko_leases_over(interval, int), aroko_runs_open(interval, uuid, int) to aroko_app;
