"""Serves the seeded shop for a person to click through: ``python -m jitrl.envs.shop``."""

from __future__ import annotations

import argparse
import os
import sys
from typing import get_args

from jitrl.envs.instances import Language
from jitrl.envs.shop.process import require_oscar


def main() -> None:
    """Serve until interrupted; what is changed lasts as long."""
    parser = argparse.ArgumentParser(prog="python -m jitrl.envs.shop", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="another seed is another shop (0)")
    parser.add_argument("--port", type=int, default=8765, help="port on 127.0.0.1 (8765)")
    parser.add_argument("--language", choices=get_args(Language), default="en")
    options = parser.parse_args()
    require_oscar()
    os.environ |= {"JITRL_SHOP_LANGUAGE": options.language, "JITRL_SHOP_LEAN": "0"}
    from jitrl.envs.shop.server import Site, serve

    served = serve(Site(options.seed), options.port)
    url = f"http://127.0.0.1:{served.port}/enter"
    sys.stdout.write(f"back office: {url}/staff/\nshop:        {url}/shopper/\nCtrl-C ends it.\n")
    sys.stdout.flush()
    try:
        served.thread.join()
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
