"""English words that carry little or nothing of what a question is about, in three grades."""

FUNCTION_WORDS = frozenset(
    """a about above after again all also am an and any are as at be been being below between both but by can could
    did do does doing done down during each either else ever few for from further had has have having he her
    here hers him his how i if in into is it its itself just let like many may me might more most much must my
    no nor not now of off on once one only or other our out over own per please really s same shall she should
    so some such t than that the their them then there these they this those through to too under until up us
    very via was we were what when where whether which while who whom whose why will with within without would
    yes you your ok okay hi hello thanks vs versus etc eg ie et al""".split()
)
# Everyday words that say little about what is asked; they count, but less.
LIGHT_WORDS = frozenset(
    """able actual add adopt affect aim allow amount answer appear apply arise around ask aspect associate attempt
    avoid away back bad base basic become begin behave benefit best better big bring build call carry case
    cause certain change choice choose claim clear close come common compare complete concern consider consist
    contain continue control cover create current cut deal decide depend derive despite detail determine
    develop differ different difficult drop ease easy effect effective effort enable end enough ensure
    especially exact example exist expect experiment explain fact fail fall far fast feature find first fit
    follow form former full gain general give go good great group grow guide half hand handle happen hard help
    high hold idea identify importance important improve include increase indicate influence involve issue job
    keep know known lack large late lead learn leave length let level limit little long look lose low main
    major matter mean measure meet model move multiple name need note number obtain occur offer often open
    order ordinary original outcome paper part particular pattern people perform performance person pick piece
    place play point poor possible practice prefer present previous problem process produce project promise
    property provide purpose put question quick raise range rate reach real reason recent reduce relate rely
    remain replace require result return reveal rise role run same scale score see seek seem series serve set
    several share show side simple single size slow small solve sort specific stand start state stay step
    still stop strong suffer sure system take target task tell term test think time total train trained
    training treat trick try turn type understand usual various want well whole wide win wish word worse worst
    write wrong year""".split()
)
# Words about papers and asking rather than about what the papers study.
ASKING_WORDS = frozenset(
    """paper papers work works study studies studied studying article articles abstract abstracts publication
    publications author authors research researcher literature corpus collection library submission list show
    find give tell name enumerate describe explain say says said report reports reported discuss discusses
    propose proposes proposed present presents presented introduce introduces introduced use uses used using
    approach approaches method methods technique techniques get gets got make makes made way ways kind kinds
    thing things anything everything something mention mentions mentioned related concerning regarding deal
    deals address addresses addressed tackle tackles tackled focus focuses focused look looks looking
    investigate investigates investigated explore explores explored examine examines examined actually exactly
    people someone new novel wrt available exist exists topic topics seed seeds here called""".split()
)
