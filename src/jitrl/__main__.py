"""`python -m jitrl`: the command line where the script `jitrl` is not on the path."""

from jitrl.cli.main import main

main()
