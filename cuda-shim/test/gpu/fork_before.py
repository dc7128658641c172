"""--memory 3072: a process that has the driver loaded but has not used it forks; both children use CUDA, under one limit."""
import os
from common import check, figures, within
from driver import OUT_OF_MEMORY, Card, load

load().cuInit  # looked up, not called
held, hold = os.pipe()  # children keep what they have until the parent closes its end
children = []
for most in (16, 64):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hold)
        pieces, error = Card().take(most=most)
        os.write(write, bytes([len(pieces), error]))
        os.read(held, 1)
        os._exit(0)
    os.close(write)
    answer = os.read(read, 2)
    check(len(answer) == 2, "the child ended before it had memory")
    children.append((child, 64 * answer[0], answer[1]))
os.close(hold)
for child, _, _ in children:
    check(os.waitpid(child, 0)[1] == 0, "the child failed")
given = [mib for _, mib, _ in children]
check(given[0] == 1024 and children[0][2] == 0, f"the first has all it asked for: {children[0]}")
check(children[1][2] == OUT_OF_MEMORY, f"the second was refused with {children[1][2]}")
within(given[1], 64, 3072 - 1024 - 128, "MiB that the second had beside the first and two contexts")
card = Card()
card.run_kernel()
figures(children_mib=given)
