-- What didn't arrive is found: questions that never reached an operator, and answers that never reached a customer. One bad
-- row, and tenants that configuration no longer names, take nobody else's place: what is in `p_except` is left out.

drop function aroko_operator_requests_due(int);

-- `p_except`: ids of requests and of tenants. A question that the platform's window keeps is planned again once the operator
-- writes (ordinal 1000), so it is undeliverable only for another reason.
create function aroko_operator_requests_due(p_limit int, p_except uuid[]) returns table (tenant_id uuid, request_id uuid)
language sql stable security definer set search_path = public, pg_temp as $$
  select r.tenant_id, r.id from operator_requests r
    where r.state = 'open' and r.id <> all (p_except) and r.tenant_id <> all (p_except)
      and (r.expires_at <= now() or (r.remind_at <= now() and r.reminded_at is null)
        or (exists (select 1 from outbox q where q.tenant_id = r.tenant_id and q.origin_kind = 'operator_request'
            and q.origin_id = r.id and q.ordinal in (0, 1000) and q.state = 'failed'
            and q.code is distinct from 'window_closed' and q.code is distinct from '131047')
          and not exists (select 1 from outbox q where q.tenant_id = r.tenant_id and q.origin_kind = 'operator_request'
            and q.origin_id = r.id and q.ordinal in (0, 1000) and q.state <> 'failed')))
    order by r.expires_at limit p_limit $$;

revoke all on function aroko_operator_requests_due(int, uuid[]) from public;
grant execute on function aroko_operator_requests_due(int, uuid[]) to aroko_app;

create index outbox_failed on outbox (settled_at) where state = 'failed';

-- Words for customers that failed within the hour and of which no owner was written to. A part that is missing because of the
-- one before it says nothing new.
create function aroko_undelivered_answers(p_limit int, p_except uuid[]) returns table (tenant_id uuid, outbox_id uuid)
language sql stable security definer set search_path = public, pg_temp as $$
  select o.tenant_id, o.id from outbox o
    where o.state = 'failed' and o.settled_at > now() - interval '1 hour' and o.id <> all (p_except)
      and o.tenant_id <> all (p_except) and o.kind <> 'acknowledgement' and o.code is distinct from 'part_failed'
      and (o.origin_kind in ('operator_answer', 'operator_nobody')
        or exists (select 1 from inbox i where i.turn_id = o.turn_id and i.chat_id = o.chat_id and i.speaker = 'customer'))
      and not exists (select 1 from outbox n where n.tenant_id = o.tenant_id and n.origin_kind = 'undelivered_notice'
        and n.origin_id = o.id)
    order by o.settled_at limit p_limit $$;

revoke all on function aroko_undelivered_answers(int, uuid[]) from public;
grant execute on function aroko_undelivered_answers(int, uuid[]) to aroko_app;
