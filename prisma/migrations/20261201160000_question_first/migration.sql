-- A question to an operator comes before its pictures, also where the sweep is what sends them.

create or replace function aroko_says_waiting(p_older_than interval, p_limit int)
returns table (tenant_id uuid, chat_id uuid, turn_id uuid, outbox_id uuid, kind text)
language sql stable security definer set search_path = public, pg_temp as $$
  -- A message without a turn is rung for under its own id: the bell needs one, and no turn has it.
  select o.tenant_id, o.chat_id, coalesce(o.turn_id, o.id), o.id, o.kind
    from outbox o join chats c on c.id = o.chat_id left join turns t on t.id = o.turn_id
    where o.planned_at < now() - p_older_than and (
      -- Its attempt never came back, and whoever would have asked again is gone too.
      (o.state = 'sending' and o.sending_at < now() - interval '2 minutes')
      -- A question to confirm closes its turn, and its run still has a last word to say.
      or (o.state = 'planned'
        and (o.turn_id is null or t.state = 'running' or exists (select 1 from tool_runs r where r.turn_id = t.id))
        -- Held words are said when the chat comes back.
        and not (c.paused_at is not null and (c.paused_until is null or c.paused_until > now()))
        -- Refused for now: the activity that tried comes back by itself.
        and (o.sending_at is null or o.sending_at < now() - interval '10 minutes')
        -- A part waits for the part before it, however long nobody knows what became of that.
        and not (o.origin_kind = 'part' and exists (select 1 from outbox p where p.tenant_id = o.tenant_id
          and p.state in ('sending', 'unknown')
          and (p.id = o.origin_id or (p.origin_kind = 'part' and p.origin_id = o.origin_id and p.ordinal < o.ordinal))))
        -- Pictures wait for the question that they belong to: the first of its messages, and of those that are sent once more. One
        -- that failed is closed, and its pictures with it, unless only the platform's window kept it.
        and not (o.origin_kind = 'operator_request' and exists (select 1 from outbox q where q.tenant_id = o.tenant_id
          and q.origin_kind = 'operator_request' and q.origin_id = o.origin_id and q.ordinal in (0, 1000)
          and q.ordinal < o.ordinal and (q.state in ('planned', 'sending')
            or (q.state = 'failed' and q.code is distinct from 'window_closed' and q.code is distinct from '131047'))))))
    order by o.planned_at, o.ordinal limit p_limit $$;
