"""One turn, from text to reply. The stages, in order:

    understand/    text -> acts               what she did with the sentence
    references     targets -> products        which ones "the second one" means
    update, state  acts -> changes -> state   a log, and what folding it gives; the changes of each family stand in
                                              wishes, minds, reactions, basket
    asking         state -> requests          what ranking is asked for, one a want
    (ranking)      request -> ranked list
    decide         lists -> decision          how many, which question, what to give up; ``presenting`` puts the decision
                                              together from these
    talk, answers  other acts -> words        questions about shown items, compare, why, basket
    reply, wording decision -> words          from facts only
    turn, course   compose them               and nothing else does

``events`` are the values that a turn yields; ``session`` keeps a conversation over restarts; ``wiping`` is what stays
of one after something was forgotten; ``commands`` is the table of slash commands.
"""
