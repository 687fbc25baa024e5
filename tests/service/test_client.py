"""The Python client: the library's calls over HTTP, which never fail the agent."""

import pytest

import jitrl
from jitrl.errors import MissingExtra

pytestmark = pytest.mark.server

YES_NO = {"yes": 1.0, "no": 0.0}


@pytest.fixture
def client(ask, place):
    with opened(place, through(ask)) as client:
        yield client


def through(ask):
    """A way to the service that runs in this process."""
    import httpx

    class Way(httpx.BaseTransport):
        def handle_request(self, request):
            path, headers = request.url.raw_path.decode(), dict(request.headers)
            asked = ask.client.request(
                request.method, path, content=request.read(), headers=headers
            )
            return httpx.Response(
                asked.status_code, headers=dict(asked.headers), content=asked.content
            )

    return Way()


def opened(place, transport, **how):
    try:
        from jitrl.service.client import Client
    except MissingExtra as error:
        pytest.skip(str(error))
    return Client("http://testserver", place.key("admin"), transport=transport, **how)


class Broken:
    """A way to a service that is there, or fails as it is told."""

    def __new__(cls, inner):
        import httpx

        class Way(httpx.BaseTransport):
            fault = None

            def handle_request(self, request):
                if self.fault is None:
                    return inner.handle_request(request)
                if isinstance(self.fault, int):
                    body = {"detail": "not today", "status": self.fault}
                    return httpx.Response(self.fault, json=body)
                raise self.fault

        return Way()


def live(client, key, outcome=None):
    with client.episode("t", key=key) as episode:
        chosen = episode.decide("page", YES_NO)
        said = chosen.action == "no" if outcome is None else outcome
        episode.outcome(said, basis="test")
    return chosen


def test_what_was_learned_is_seen_by_the_next_decision(client):
    for number in range(8):
        live(client, f"{number}")
    choice = live(client, "last")
    assert (choice.action, choice.changed, choice.degraded) == ("no", True, False)


def test_an_episode_is_looked_at_corrected_and_undone(client):
    with client.episode("t", scope="s", key="a b") as episode:
        state = jitrl.State("page", context="goal", place="here")
        choice = episode.decide(state, YES_NO, more=["maybe"], scorer="letters")
        episode.reward(0.5)
        episode.close()
    found = client.decision(choice.decision)
    assert found["state"] == {"text": "page", "context": "goal", "place": "here"}
    assert found["decision"]["scorer"] == "letters"
    assert client.outcome(episode.id, True, basis="human", once="1").rows == 1
    assert client.outcome(episode.id, True, basis="human", once="1").rows == 1
    (row,) = client.rows(status="active").rows
    assert client.quarantine(row=row.id, reason="planted").changed == 1
    assert client.restore(episode=episode.id).changed == 1
    assert client.rules() == []


def test_leaving_an_episode_closes_it_as_it_ended(client):
    with client.episode("t", key="a") as left:
        left.decide("page", YES_NO)
    failed = client.episode("t", key="b")
    with pytest.raises(KeyError), failed:
        raise KeyError
    seats = [client._wire.get(f"/v1/episodes/{e.id}", {}, dict) for e in (left, failed)]
    assert [seat["status"] for seat in seats] == ["truncated", "aborted"]


def test_what_the_caller_got_wrong_is_raised_with_the_services_words(client):
    from jitrl.service.client import Refused

    episode = client.episode("t", key="k")
    with pytest.raises(Refused, match="candidates") as refused:
        episode.decide("page", {})
    assert refused.value.status == 422
    with pytest.raises(Refused, match="nobody"):
        client.decision("nobody:0")
    with pytest.raises(Refused, match="names one run"):
        client.episode("other", key="k")


@pytest.mark.parametrize("fault", [500, 503, 429, "gone", "late"])
def test_a_service_that_is_not_heard_leaves_the_agent_its_own_choice(ask, place, fault):
    import httpx

    way = Broken(through(ask))
    with opened(place, way) as client, client.episode("t", key="k") as episode:
        assert not episode.decide("page 0", YES_NO).degraded
        way.fault = {"gone": httpx.ConnectError("gone"), "late": httpx.ReadTimeout("late")}.get(
            fault, fault
        )
        lost = episode.decide("page 1", YES_NO)
        assert (lost.action, lost.degraded, lost.reason) == ("yes", True, "unreachable")
        way.fault = None
        assert episode.decide("page 2", YES_NO).degraded
        assert episode.outcome(True, basis="test") is None
    assert ask("GET", "/v1/episodes/k").json()["status"] == "aborted"
    assert ask("GET", "/v1/memory").json()["rows"] == []


def test_a_service_that_is_away_from_the_start_costs_the_agent_nothing(ask, place):
    import httpx

    way = Broken(through(ask))
    way.fault = httpx.ConnectError("gone")
    with opened(place, way) as client, client.episode("t", key="k") as episode:
        assert episode.decide("page", YES_NO).action == "yes"
        episode.reward(1.0)
        episode.close()


def test_an_answer_that_was_lost_on_its_way_is_asked_for_again_and_is_one_step(ask, place):
    import httpx

    way = through(ask)

    class Forgetful(httpx.BaseTransport):
        def __init__(self):
            self.asked = 0

        def handle_request(self, request):
            answer = way.handle_request(request)
            if request.url.path.endswith(("/decide", "/steps", "/took")):
                self.asked += 1
                if self.asked % 2:
                    raise httpx.ReadError("lost")
            return answer

    with opened(place, Forgetful()) as client, client.episode("t", key="k") as episode:
        for number in range(3):
            assert episode.decide(f"page {number}", YES_NO).step == number
            episode.took("no")
            episode.reward(0.25)
        episode.outcome(0.0)
    assert ask("GET", "/v1/episodes/k").json()["steps"] == 3
    assert sum(row["reward"] for row in ask("GET", "/v1/memory").json()["rows"]) == 0.75
